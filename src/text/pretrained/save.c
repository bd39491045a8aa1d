/* Saves a model in the form that the path ends in. */
#include "text/pretrained/save.h"

#include "base/text/string.h"

#include <string.h>
#include <sys/stat.h>

mw_text_save_options mw_text_save_defaults(void)
{
    return (mw_text_save_options){.struct_size = sizeof(mw_text_save_options), .version = 1};
}

mw_status mw__saving_read(mw__saving *s, size_t weight, float *out, mw_error *err)
{
    MW_TRY(mw__pretrained_read(&s->source, weight, out, err));
    return mw__trained_apply(&s->trained, &s->source.weights[weight], weight, out, err);
}

mw_status mw__saving_check_file(const char *path, mw_error *err)
{
    struct stat found;
    mw__file_writer writer;
    if (stat(path, &found) == 0 && S_ISDIR(found.st_mode))
        return mw__fail(err, MW_ERROR_FILE, "\"%.200s\" is a folder, and this form is a file", path);
    const mw_status status = mw__file_writer_begin(&writer, mw__allocator_default(), path, false, err);
    mw__file_writer_deinit(&writer);
    return status;
}

typedef mw_status saver(mw__saving *s, mw_error *err);

static saver *saver_of(const char *path)
{
    return mw__string_ends(path, ".gguf")  ? mw__saving_gguf
           : mw__string_ends(path, ".bin") ? mw__saving_llama2c
                                           : mw__saving_folder;
}

static mw_status check_type(const char *type, saver *save, mw_error *err)
{
    static const char *const types[] = {"F32", "F16", "BF16", "Q8_0", "Q4_0"};
    const size_t count = save == mw__saving_gguf ? 5 : 3;
    for (size_t i = 0; type != NULL && i < count; i++)
        if (strcmp(type, types[i]) == 0 && (save != mw__saving_llama2c || i == 0))
            return MW_OK;
    if (type == NULL)
        return MW_OK;
    return mw__fail(err, MW_ERROR_ARGUMENT, "save: weights of the type \"%.40s\"; %s", type,
                    save == mw__saving_gguf      ? "GGUF is written with F32, F16, BF16, Q8_0 or Q4_0"
                    : save == mw__saving_llama2c ? "llama2.c has F32, and version 2 bytes"
                                                 : "a folder has F32, F16 or BF16");
}

static mw_status check_save(const char *source, const char *path, const mw_text_save_options *o, mw_error *err)
{
    if (source == NULL || path == NULL || path[0] == '\0')
        return mw__fail(err, MW_ERROR_ARGUMENT, "save: no %s", source == NULL ? "source" : "path");
    if (o->struct_size != sizeof *o)
        return mw__fail(err, MW_ERROR_ARGUMENT, "save: options are made with mw_text_save_defaults");
    if (o->version < 0 || o->version > 2)
        return mw__fail(err, MW_ERROR_ARGUMENT, "save: version %d of llama2.c; 0, 1 and 2 are written", o->version);
    return check_type(o->type, saver_of(path), err);
}

mw_status mw_text_save(const char *source, const char *path, const mw_text_save_options *options, mw_error *err)
{
    mw_error own = {0};
    if (mw__skips(err))
        return err->status;
    err = err != NULL ? err : &own;
    const mw_text_save_options o = options != NULL ? *options : mw_text_save_defaults();
    MW_TRY(check_save(source, path, &o, err));
    mw__saving s = {.path = path, .options = &o};
    mw_status status = mw__pretrained_open(&s.source, source, err);
    if (status == MW_OK)
        status = mw__trained_open(&s.trained, o.trained, &s.source, err);
    if (status == MW_OK)
        status = saver_of(path)(&s, err);
    if (s.trained.arena.allocator != NULL)
        mw__trained_deinit(&s.trained);
    mw__pretrained_deinit(&s.source);
    return status;
}
