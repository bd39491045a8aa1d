/* Steps of several programs: what is asked of the programs that learn, and what they came to. */
#include "runtime/program/program_segments.h"
#include "runtime/trainer/build/trainer_programs.h"

/* What a process can hold on the device at once. source  ANEForge; seen on Macs, imitated here for whoever cuts */
enum { OPERATIONS_MAX = 128 };
/* Pieces of a step whose gradients are exchanged meanwhile: an exchange begins when a piece is done, so that an eighth
 * of the step is what it waits for at first; each cut costs the joins across it. */
enum { OVERLAPPING_CALLS = 8 };
enum { VIEWS = 2 }; /* evaluation and prediction, which are made when they are wanted */

/* The library proves its aliasing with a second set of operations. */
static bool has_shadow(const mw_trainer *t)
{
    return t->target.symbols.provider != MW_PROVIDER_ENGINE || t->target.symbols.foreign;
}

/* How often the operations of a step, and of an accumulation, are there. */
static size_t times_of_step(const mw_trainer *t)
{
    return 1 + has_shadow(t) + (t->numbers.dispatch_steps > 1 ? (size_t)t->numbers.dispatch_steps : 0);
}

static size_t times_of_accumulation(const mw_trainer *t) { return t->numbers.accumulate > 1 ? 1 + has_shadow(t) : 0; }

static size_t calls_of(const mw__trainer_pass *pass)
{
    const mw_program *program = pass->program;
    return program == NULL ? 0 : program->segments == NULL ? 1 : program->segments->cut.call_count;
}

static size_t programs_of(const mw__trainer_pass *pass)
{
    const mw_program *program = pass->program;
    return program == NULL ? 0 : program->segments == NULL ? 1 : program->segments->cut.segment_count;
}

static size_t operations_of(const mw_trainer *t)
{
    return calls_of(&t->step) * times_of_step(t) + calls_of(&t->accumulation) * times_of_accumulation(t) + VIEWS;
}

void mw__trainer_allow_cuts(const mw_trainer *t, const mw__trainer_pass *pass, mw__program_request *request)
{
    const bool is_step = pass == &t->step;
    request->watched = is_step && t->strategy->sums_gradients;
    request->cut_automatically = t->numbers.segments == MW_SEGMENTS_AUTO;
    request->calls_max = (size_t)t->numbers.segments;
    if (request->watched && t->numbers.segments == 0 && t->strategy->wants_overlap != NULL &&
        t->strategy->wants_overlap(t))
        request->calls_max = OVERLAPPING_CALLS;
    if (request->cut_automatically)
        request->calls_max = (OPERATIONS_MAX - VIEWS) / (times_of_step(t) + times_of_accumulation(t));
    request->held = VIEWS + (is_step ? times_of_accumulation(t) : calls_of(&t->step) * times_of_step(t));
    request->held_times = is_step ? times_of_step(t) : times_of_accumulation(t);
    request->held_max = t->target.device->is_chip ? OPERATIONS_MAX : 0;
}

mw_trainer_parts mw__trainer_parts(const mw_trainer *trainer)
{
    const struct mw__program_segments *cut = trainer->step.program->segments;
    mw_trainer_parts parts = {.calls = calls_of(&trainer->step),
                              .programs = programs_of(&trainer->step) + programs_of(&trainer->accumulation),
                              .held = operations_of(trainer),
                              .held_max = trainer->target.device->is_chip ? OPERATIONS_MAX : 0};
    for (size_t i = 0; cut != NULL && i < cut->cut.segment_count; i++)
        parts.compiled += cut->cut.segments[i].op_count;
    parts.operations = cut != NULL ? cut->cut.op_count : 0;
    return parts;
}
