/* Runs what depends on constants alone once, when planned. Only what stays small, or shrinks, is kept: a program must
 * not grow by the tensors that it can compute. Weights that kernels want laid out in their own way are the exception:
 * the copy takes their size once more, and saves a pass over them in every run. */
#include "base/memory/checked.h"
#include "engine/compile/passes.h"
#include "engine/core/partition.h"

#include <stdlib.h>
#include <string.h>

#define KEPT_BYTES 4096 /* results of one step that are kept whatever its operands take */

typedef struct folder {
    mw__arena *arena;
    mw__buffer *buffers;
    uint32_t *writers; /* by buffer: steps that write it */
    int partitions;
    bool flush;
    mw_error *err;
} folder;

/* A buffer that several steps write is not whole after one of them. */
static bool folds(const folder *f, const mw__step *step)
{
    size_t read = 0, written = 0;
    for (size_t i = 0; i < step->read_count; i++) {
        if (f->buffers[step->reads[i].buffer].kind != MW__BUFFER_CONSTANT)
            return false;
        read += f->buffers[step->reads[i].buffer].size;
    }
    for (size_t i = 0; i < step->write_count; i++) {
        const uint32_t buffer = step->writes[i].buffer;
        if (f->buffers[buffer].kind != MW__BUFFER_LOCAL || f->writers[buffer] != 1 ||
            !mw__add_size(written, f->buffers[buffer].size, &written))
            return false;
    }
    return !step->varies && step->nested == NULL && step->units > 0 &&
           (step->prepares || written <= (read > KEPT_BYTES ? read : KEPT_BYTES));
}

static mw_status run_once(const folder *f, const mw__step *step)
{
    const void *in[MW__STEP_READS];
    void *out[MW__STEP_WRITES];
    const mw_allocator *allocator = f->arena->allocator;
    void *scratch = mw__alloc_aligned(allocator, step->scratch, 64, f->err);
    if (scratch == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < step->read_count; i++)
        in[i] = f->buffers[step->reads[i].buffer].data;
    mw_status status = MW_OK;
    for (size_t i = 0; i < step->write_count && status == MW_OK; i++) {
        mw__buffer *buffer = &f->buffers[step->writes[i].buffer];
        out[i] = mw__arena_alloc(f->arena, buffer->size, 1, f->err);
        *buffer = (mw__buffer){.kind = MW__BUFFER_CONSTANT, .size = buffer->size, .data = out[i]};
        status = out[i] != NULL ? MW_OK : MW_ERROR_MEMORY;
    }
    if (status == MW_OK)
        mw__execute_step(step, f->partitions, f->flush, in, out, scratch);
    mw__free_aligned(allocator, scratch);
    return status;
}

static mw_status fold_all(folder *f, size_t buffer_count, mw__step **steps, size_t *step_count)
{
    size_t kept = 0;
    f->writers = mw__alloc(f->arena->allocator, buffer_count, sizeof *f->writers, f->err);
    if (f->writers == NULL)
        return MW_ERROR_MEMORY;
    for (size_t s = 0; s < *step_count; s++)
        for (size_t i = 0; i < steps[s]->write_count; i++)
            f->writers[steps[s]->writes[i].buffer]++;
    mw_status status = MW_OK;
    for (size_t s = 0; s < *step_count && status == MW_OK; s++)
        if (folds(f, steps[s]))
            status = run_once(f, steps[s]);
        else
            steps[kept++] = steps[s];
    *step_count = kept;
    mw__free(f->arena->allocator, f->writers);
    return status;
}

mw_status mw__plan_fold_steps(const mw__pass *pass, mw__step **steps, size_t *step_count, mw_error *err)
{
    folder f = {.arena = pass->arena,
                .buffers = pass->buffers,
                .partitions = pass->partitions,
                .flush = pass->config->flush,
                .err = err};
    return fold_all(&f, pass->buffer_count, steps, step_count);
}
