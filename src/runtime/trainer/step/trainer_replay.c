/* A refused step as a folder: its program with every value looked at, what it was fed, and what each number stands for.
 * mw_replay_run needs nothing else, and no trainer. */
#include "runtime/trainer/step/trainer_replay.h"
#include "mil/io.h"

#include "base/file/file.h"
#include "base/text/log.h"
#include "base/text/text.h"
#include "format/tensors/safetensors.h"
#include "graph/ir/ir.h"
#include "runtime/trainer/step/trainer_nan_origin.h"

#include <inttypes.h>
#include <millwright/mil.h>
#include <stdio.h>

static mw_status path_in(const mw_trainer *t, const char *name, mw__text *out, mw_error *err)
{
    mw__text_init(out, t->allocator);
    mw__text_printf(out, "%s/%s", t->diagnosis.replay_folder, name);
    if (mw__text_check(out, err) == MW_OK)
        return MW_OK;
    mw__text_deinit(out);
    return MW_ERROR_MEMORY;
}

/* ---- what it was fed ---- */

static mw_status list_inputs(const mw__replay_step *step, mw__safetensors_item *items, size_t *out_count, mw_error *err)
{
    const mw__block *body = mw__graph_main(step->graph)->body;
    *out_count = 0;
    for (size_t i = 0; i < body->input_count; i++) {
        const size_t port = mw__program_find(step->program, body->inputs[i]->name);
        if (port >= step->program->input_count)
            continue; /* nothing reads it */
        const mw_port *p = &step->program->ports[port];
        const void *data = mw__program_data(step->program, port);
        if (data == NULL)
            return mw__fail(err, MW_ERROR_UNSUPPORTED, "\"%.100s\" is held in parts", p->name);
        items[(*out_count)++] =
            (mw__safetensors_item){mw__names_get(step->names, body->inputs[i]), p->dtype, p->shape, data};
    }
    return MW_OK;
}

static mw_status write_inputs(const mw_trainer *t, const mw__replay_step *step, mw_error *err)
{
    char number[24];
    mw__text path;
    MW_TRY(path_in(t, MW__REPLAY_INPUTS, &path, err));
    const size_t most = mw__graph_main(step->graph)->body->input_count;
    mw__safetensors_item *items = mw__alloc(t->allocator, most, sizeof *items, err);
    size_t count = 0;
    mw_status status = items != NULL ? list_inputs(step, items, &count, err) : MW_ERROR_MEMORY;
    snprintf(number, sizeof number, "%" PRId64, t->progress.steps + 1);
    const mw__safetensors_note notes[] = {{"mw.format", "millwright-replay"}, {"mw.step", number}};
    if (status == MW_OK)
        status = mw__safetensors_write(t->allocator, path.data, notes, 2, items, count, err);
    mw__text_deinit(&path);
    mw__free(t->allocator, items);
    return status;
}

/* ---- what the numbers stand for ---- */

/* "operation<tab>parameter<tab>sentence" */
static mw_status write_operations(const mw_trainer *t, const mw__replay_step *step, mw_error *err)
{
    mw__text text, path;
    mw__text_init(&text, t->allocator);
    mw__text_puts(&text, MW__REPLAY_HEADER);
    for (size_t i = 0; i < step->count; i++) {
        mw__nan_origin one = {{0}, {0}, {0}};
        step->describe(step->user, i, &one);
        mw__text_printf(&text, "%s\t%s\t%s\n", one.operation, one.tensor, one.text);
    }
    mw_status status = mw__text_check(&text, err);
    if (status == MW_OK)
        status = path_in(t, MW__REPLAY_OPERATIONS, &path, err);
    if (status == MW_OK) {
        status = mw__file_write(t->allocator, path.data, text.data, text.size, true, err);
        mw__text_deinit(&path);
    }
    mw__text_deinit(&text);
    return status;
}

/* ---- the folder ---- */

static mw_status save(const mw_trainer *t, const mw__replay_step *step, mw_error *err)
{
    MW_TRY(mw__file_make_folders(t->diagnosis.replay_folder, err));
    MW_TRY(mw__mil_write(step->graph, t->diagnosis.replay_folder, NULL, MW__WRITE_DURABLE, NULL, err));
    MW_TRY(write_inputs(t, step, err));
    return write_operations(t, step, err);
}

void mw__replay_save(mw_trainer *t, const mw__replay_step *step)
{
    mw_error err = {0};
    if (t->diagnosis.replay_folder == NULL)
        return;
    t->diagnosis.replay_saved = save(t, step, &err) == MW_OK;
    if (!t->diagnosis.replay_saved)
        mw__log(MW_LOG_WARNING, "the refused step could not be kept in \"%s\": %s", t->diagnosis.replay_folder,
                err.message);
}
