/* Weights of files into a trainer, and what it made of them into files again. */
#include "base/memory/live.h"
#include "base/text/error.h"
#include "text/pretrained/pretrained.h"

#include <millwright/text_save.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 4200 };

/* ---- into a trainer ---- */

static mw_status load_weight(mw__pretrained *p, size_t i, mw_trainer *trainer, mw_error *err)
{
    const mw__pretrained_weight *w = &p->weights[i];
    const size_t count = (size_t)mw_shape_count(w->shape);
    float *data = mw__alloc(mw__allocator_default(), count, sizeof *data, err);
    if (data == NULL)
        return MW_ERROR_MEMORY;
    mw_status status = mw__pretrained_read(p, i, data, err);
    if (status == MW_OK)
        status = mw_trainer_write(trainer, w->name, MW_F32, data, count, err);
    mw__free(mw__allocator_default(), data);
    return status;
}

mw_status mw_text_load_weights(mw_trainer *trainer, const char *source, mw_error *err)
{
    mw_error own = {0};
    mw__pretrained p;
    if (mw__skips(err))
        return err->status;
    err = err != NULL ? err : &own;
    MW_TRY(mw__live_check(trainer, MW__LIVE_TRAINER, __func__, err));
    if (source == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "weights of a text model: no path");
    mw_status status = mw__pretrained_open(&p, source, err);
    for (size_t i = 0; status == MW_OK && i < p.count; i++)
        if (!mw__pretrained_is_left_out(&p, i, mw_trainer_program(trainer)))
            status = load_weight(&p, i, trainer, err);
    mw__pretrained_deinit(&p);
    return status;
}

/* ---- and back ---- */

static bool has_adapters(mw_trainer *trainer)
{
    mw_port port;
    for (size_t i = 0; mw_program_port_at(mw_trainer_program(trainer), i, &port); i++)
        if (strstr(port.name, ".lora_A.weight") != NULL)
            return true;
    return false;
}

/* The files that trained weights pass through, beside the path. */
static void remove_passing(const char *passing)
{
    static const char *const names[] = {"adapter_config.json", "adapter_model.safetensors"};
    char path[PATH_BYTES + 32];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", passing, names[i]);
        (void)unlink(path);
    }
    (void)rmdir(passing);
    (void)unlink(passing);
}

mw_status mw_text_save_trained(mw_trainer *trainer, const char *source, const char *path,
                               const mw_text_save_options *options, mw_error *err)
{
    mw_error own = {0};
    char passing[PATH_BYTES];
    if (mw__skips(err))
        return err->status;
    err = err != NULL ? err : &own;
    MW_TRY(mw__live_check(trainer, MW__LIVE_TRAINER, __func__, err));
    mw_text_save_options o = options != NULL ? *options : mw_text_save_defaults();
    if (path == NULL || o.trained != NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "a trained text model: %s",
                        path == NULL ? "no path" : "options.trained is what this trainer has");
    if (o.check_only)
        return mw_text_save(source, path, &o, err);
    const bool adapters = has_adapters(trainer);
    const int size = snprintf(passing, sizeof passing, "%s.trained%s", path, adapters ? "" : ".safetensors");
    if (size < 0 || (size_t)size >= sizeof passing)
        return mw__fail(err, MW_ERROR_ARGUMENT, "a trained text model: the path is too long");
    mw_status status =
        adapters ? mw_trainer_save_lora(trainer, passing, err) : mw_trainer_save_weights(trainer, passing, err);
    if (status == MW_OK) {
        o.trained = passing;
        status = mw_text_save(source, path, &o, err);
    }
    remove_passing(passing);
    return status;
}
