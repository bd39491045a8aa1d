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

/* By the end of the path; the last has any. */
static const struct form {
    const char *end;
    saver *save;
    const char *types[6], *says; /* of weights; NULL behind the last */
} forms[] = {
    {".gguf",
     mw__saving_gguf,
     {"F32", "F16", "BF16", "Q8_0", "Q4_0"},
     "GGUF is written with F32, F16, BF16, Q8_0 or Q4_0"},
    {".bin", mw__saving_llama2c, {"F32"}, "llama2.c has F32, and version 2 bytes"},
    {".mlpackage", mw__saving_coreml, {"F32", "F16"}, "a package has F32 or F16"},
    {"", mw__saving_folder, {"F32", "F16", "BF16"}, "a folder has F32, F16 or BF16"},
};

static const struct form *form_of(const char *path)
{
    const struct form *form = forms;
    while (!mw__string_ends(path, form->end))
        form++;
    return form;
}

static mw_status check_type(const char *type, const struct form *form, mw_error *err)
{
    for (size_t i = 0; type != NULL && form->types[i] != NULL; i++)
        if (strcmp(type, form->types[i]) == 0)
            return MW_OK;
    return type == NULL ? MW_OK
                        : mw__fail(err, MW_ERROR_ARGUMENT, "save: weights of the type \"%.40s\"; %s", type, form->says);
}

static mw_status check_cache(const mw_text_save_options *o, const struct form *form, mw_error *err)
{
    if (o->cache < 0 || o->cache > 1 << 24)
        return mw__fail(err, MW_ERROR_ARGUMENT, "save: a cache of %lld tokens; 1 to %d, or 0", (long long)o->cache,
                        1 << 24);
    if (o->cache > 0 && form->save != mw__saving_coreml)
        return mw__fail(err, MW_ERROR_ARGUMENT, "save: a cache has no effect here: only a .mlpackage has one");
    return MW_OK;
}

static mw_status check_save(const char *source, const char *path, const mw_text_save_options *o, mw_error *err)
{
    if (source == NULL || path == NULL || path[0] == '\0')
        return mw__fail(err, MW_ERROR_ARGUMENT, "save: no %s", source == NULL ? "source" : "path");
    if (o->struct_size != sizeof *o)
        return mw__fail(err, MW_ERROR_ARGUMENT, "save: options are made with mw_text_save_defaults");
    if (o->version < 0 || o->version > 2)
        return mw__fail(err, MW_ERROR_ARGUMENT, "save: version %d of llama2.c; 0, 1 and 2 are written", o->version);
    MW_TRY(check_cache(o, form_of(path), err));
    return check_type(o->type, form_of(path), err);
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
        status = form_of(path)->save(&s, err);
    if (s.trained.arena.allocator != NULL)
        mw__trained_deinit(&s.trained);
    mw__pretrained_deinit(&s.source);
    return status;
}
