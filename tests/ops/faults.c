/* The loop of faults.h and what is done in it. */
#include "faults.h"
#include "support/check.h"
#include "support/failing.h"
#include "support/night.h"

#include <e5rt/e5rt.h>
#include <stdlib.h>

/* ---- the loop ---- */

typedef struct loop {
    fault_run *run;
    const void *what;
    const char *name;
    bool chip;
    mw_status usual; /* a device may refuse what is done */
} loop;

/* Request `fail_at` fails, -1 = none; returns how many there were. */
static long run_once(const loop *l, long fail_at, bool and_after)
{
    failing_allocator failing = {.fail_at = fail_at, .and_after = and_after};
    const mw_allocator allocator = failing_allocator_of(&failing);
    mw_error err = {0};
    e5rt_mw_set_allocator(allocator.resize, allocator.user);
    const mw_status status = l->run(l->what, &allocator, l->chip, &err);
    e5rt_mw_set_allocator(NULL, NULL);
    const char *form = l->chip ? "chip" : "compact";
    check_note(failing.live == 0, __FILE__, __LINE__, "%s, %s: request %ld of %ld leaks %ld blocks", l->name, form,
               fail_at, failing.requests, failing.live);
    check_note(status == (failing.failed ? MW_ERROR_MEMORY : l->usual) && status == err.status &&
                   (status == MW_OK || err.message[0] != '\0'),
               __FILE__, __LINE__, "%s, %s: request %ld of %ld fails: status %d \"%s\"", l->name, form, fail_at,
               failing.requests, (int)status, err.message);
    return failing.requests;
}

enum { NIGHTS = 8 };  /* after so many each request of what has many has failed */
#define SPREAD 40503u /* 2^16 over the golden ratio: the first requests of neighboring turns lie apart */

static void run_form(loop *l, long samples, size_t turn)
{
    mw_error err = {0};
    l->usual = l->run(l->what, NULL, l->chip, &err); /* the engine now has what a process keeps */
    const bool outside = strstr(err.message, "of the table that it looks into") != NULL; /* which a trainer refuses */
    check_note(l->chip || l->usual == MW_OK || outside, __FILE__, __LINE__, "%s: %s", l->name, err.message);
    const long requests = run_once(l, -1, false);
    const long few = requests > samples ? requests / samples : 1,
               stride = night_has_come() && few > NIGHTS ? NIGHTS : few;
    const long first = night_has_come() ? night_share(stride) : (long)(turn * SPREAD % (size_t)stride);
    for (long n = first; n < requests; n += stride)
        run_once(l, n, n / stride % 2 == 1);
}

void faults_loop(fault_run *run, const void *what, const char *name, long samples, size_t turn)
{
    unsetenv("MW_E5RT_LIBRARY");
    for (int chip = 0; chip < 2; chip++)
        run_form(&(loop){.run = run, .what = what, .name = name, .chip = chip != 0}, samples, turn);
}

/* ---- what is done ---- */

mw_graph *faults_graph(const mw_allocator *allocator, bool chip, bool pieces, mw_error *err)
{
    mw_graph_options options = mw_graph_defaults();
    options.allocator = allocator;
    mw_graph *graph = mw_graph_create(&options, NULL);
    if (graph == NULL) {
        mw__fail(err, MW_ERROR_MEMORY, "no graph");
        return NULL;
    }
    if (pieces)
        graph->arena.block_size = 0;
    graph->lowering = chip ? MW__LOWERING_DECOMPOSED : MW__LOWERING_NATIVE;
    return graph;
}

bool faults_is_float(const mw_tensor *x) { return mw_tensor_dtype(x) == MW_F32 || mw_tensor_dtype(x) == MW_F16; }

mw_status faults_gradient(mw_graph *graph, mw_tensor *y, mw_tensor *const *x, size_t count, mw_error *err)
{
    mw_tensor *dx[OP_CASE_INPUTS];
    mw_tensor *loss = faults_is_float(y) ? mw_reduce_sum(y, MW_ALL_AXES, false) : NULL;
    if (mw_graph_check(graph, err) == MW_OK && loss != NULL && count > 0)
        mw_grad(loss, x, count, dx, err);
    return err->status;
}

mw_compile_options faults_compile_options(const mw_allocator *allocator, bool chip)
{
    mw_compile_options options = mw_compile_defaults();
    options.allocator = allocator;
    options.device = chip ? MW_DEVICE_ANE : MW_DEVICE_CPU;
    options.provider = MW_PROVIDER_ENGINE;
    return options;
}

mw_status faults_train(mw_trainer_options options, const mw_feed *feeds, size_t count, const mw_allocator *allocator,
                       bool chip, mw_error *err)
{
    options.compile = faults_compile_options(allocator, chip);
    mw_trainer *trainer = mw_trainer_create(&options, err);
    const mw_batch batch = {.feeds = feeds, .feed_count = count, .examples = 1};
    if (trainer != NULL)
        mw_trainer_step(trainer, &batch, NULL, err);
    mw_trainer_destroy(trainer);
    return err->status;
}
