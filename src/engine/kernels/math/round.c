/* Rounds fp32 to fp16 in place of the conversion to memory: the loop, and steps that end with it. */
#include "engine/kernels/math/round.h"

#include "base/number/fp16.h"
#include "engine/kernels/math/round_vector.h"

/* ---- the loop ---- */

MW__ROUND_LOOPS(half, MW__ROUND_HALF)

static void half_ref(float *out, const float *x, int64_t count, float p, float q)
{
    (void)p, (void)q;
    for (int64_t i = 0; i < count; i++)
        out[i] = mw__fp16_to_float(mw__fp16_from_float(x[i]));
}

mw__loop1 *mw__round_loop(mw__level level, unsigned how)
{
    static mw__loop1 *const loops[] = MW__BASE_AVX2_AVX512_LIST(half);
    if (how > MW__ROUND_HALF)
        return mw__round_chip_loop(level, how);
    if (how == 0)
        return NULL;
    return level == MW__LEVEL_REF ? half_ref : loops[level - MW__LEVEL_BASE];
}

/* ---- steps ---- */

enum { NEAR = 1 << 18 }; /* bytes that stay in a cache */

/* A kernel and what is rounded after it, while it is in a cache. */
typedef struct rounded_block {
    mw__kernel *run;
    const void *block;
    size_t write, unit, size; /* operand; bytes of a unit and of all */
    int64_t together;         /* units that the kernel is called for at once; 0: all */
    mw__loop1 *loop;
} rounded_block;

static void rounded_run(const mw__kernel_call *call)
{
    const rounded_block *r = call->block;
    mw__kernel_call inner = *call;
    inner.block = r->block;
    for (int64_t unit = call->begin; unit < call->end; unit = inner.end) {
        inner.begin = unit;
        inner.end = r->together > 0 && r->together < call->end - unit ? unit + r->together : call->end;
        r->run(&inner);
        const size_t begin = (size_t)inner.begin * r->unit, end = (size_t)inner.end * r->unit;
        float *data = (float *)call->out[r->write] + begin / sizeof(float);
        if (begin < r->size)
            r->loop(data, data, (int64_t)(((end < r->size ? end : r->size) - begin) / sizeof(float)), 0, 0);
    }
}

/* As many whole matrices of many as lie near. */
static int64_t units_together(const mw__step *step, size_t unit)
{
    const size_t each = (size_t)step->span * unit;
    if (each == 0 || step->span % step->grain != 0)
        return 0;
    return each < NEAR ? (int64_t)(NEAR / each) * step->span : step->span;
}

void mw__round_rows(mw__planner *planner, mw__step *step, size_t write, size_t size, unsigned how)
{
    rounded_block *block = mw__plan_block(planner, sizeof *block);
    if (block == NULL)
        return;
    *block = (rounded_block){.run = step->run,
                             .block = step->block,
                             .write = write,
                             .unit = step->writes[write].unit,
                             .size = size,
                             .together = units_together(step, step->writes[write].unit),
                             .loop = mw__round_loop(mw__plan_level(planner), how)};
    step->run = rounded_run;
    step->block = block;
}

typedef struct round_block {
    int64_t count;
    mw__loop1 *loop;
} round_block;

enum { PIECE = 1024 }; /* floats of a unit */

static void round_run(const mw__kernel_call *call)
{
    const round_block *r = call->block;
    int64_t begin, end;
    mw__units_range(call, PIECE, r->count, &begin, &end);
    r->loop((float *)call->out[0] + begin, (const float *)call->in[0] + begin, end - begin, 0, 0);
}

void mw__round_step(mw__planner *planner, uint32_t from, uint32_t to, size_t size, unsigned how)
{
    round_block *block = mw__plan_block(planner, sizeof *block);
    if (block == NULL)
        return;
    *block =
        (round_block){.count = (int64_t)(size / sizeof(float)), .loop = mw__round_loop(mw__plan_level(planner), how)};
    mw__step *step = mw__plan_step(planner, round_run, "round", (block->count + PIECE - 1) / PIECE,
                                   mw__cost(2.0 * (double)size, 10.0 * (double)block->count));
    step->block = block;
    const mw__step_operand rows = {.access = MW__ROWS, .unit = PIECE * sizeof(float), .in_place = true};
    step->reads[0] = step->writes[0] = rows;
    step->reads[0].buffer = from;
    step->writes[0].buffer = to;
    step->writes[0].in_place = false;
    step->read_count = step->write_count = 1;
}
