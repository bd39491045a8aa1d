/* Opens the files of a network, whatever form they have, and reads their weights one after the other. */
#include "text/pretrained/pretrained.h"

#include "base/number/bytes.h"
#include "base/text/string.h"
#include "text/tokenizer/tokenizer.h"

#include <millwright/tensors.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* ---- which form ---- */

static bool is_folder(const char *path)
{
    struct stat found;
    return stat(path, &found) == 0 && S_ISDIR(found.st_mode);
}

/* llama2.c's first form begins with a width: no mark tells it from other files, but its name. */
static const mw__pretrained_form *form_of_bytes(const char *path, const unsigned char *bytes, size_t size)
{
    const uint32_t mark = size >= 4 ? mw__bytes_u32(bytes) : 0;
    if (mark == 0x46554747) /* GGUF */
        return &mw__pretrained_gguf;
    if (mark == 20240326)
        return &mw__pretrained_llmc;
    if (mark == 0x616b3432 || mw__string_ends(path, ".bin"))
        return &mw__pretrained_llama2c;
    return NULL;
}

static mw_status find_form(mw__pretrained *p, mw_error *err)
{
    unsigned char bytes[4] = {0};
    if (is_folder(p->path)) {
        p->form = &mw__pretrained_folder;
        return MW_OK;
    }
    MW_TRY(mw__file_open(&p->file, p->path, err));
    const size_t size = p->file.size < sizeof bytes ? (size_t)p->file.size : sizeof bytes;
    MW_TRY(mw__file_read_at(&p->file, 0, bytes, size, p->path, err));
    p->form = form_of_bytes(p->path, bytes, size);
    if (p->form != NULL)
        return MW_OK;
    return mw__fail(
        err, MW_ERROR_FORMAT,
        "\"%.200s\" is no network of text: a folder with config.json, a .gguf, or a .bin of llama2.c or llm.c",
        p->path);
}

static mw_status open_form(mw__pretrained *p, mw_error *err)
{
    MW_TRY(find_form(p, err));
    return p->form->open(p, err);
}

mw_status mw__pretrained_open(mw__pretrained *p, const char *path, mw_error *err)
{
    *p = (mw__pretrained){.file = {.descriptor = -1}};
    mw__arena_init(&p->arena, mw__allocator_default());
    p->path = mw__arena_keep(&p->arena, path, err);
    return p->path != NULL ? open_form(p, err) : MW_ERROR_MEMORY;
}

void mw__pretrained_deinit(mw__pretrained *p)
{
    mw_tensors_destroy(p->tensors);
    if (p->file.descriptor >= 0)
        mw__file_close(&p->file);
    mw__arena_deinit(&p->arena);
}

mw_status mw__pretrained_read(mw__pretrained *p, size_t weight, float *out, mw_error *err)
{
    return p->form->read(p, weight, out, err);
}

/* ---- into a program ---- */

bool mw__pretrained_is_left_out(const mw__pretrained *p, size_t weight, const mw_program *program)
{
    const mw__pretrained_weight *w = &p->weights[weight];
    mw_port port;
    if (w->part < MW__PART_POOLER || !mw__language_family(p->config.family)->encoder)
        return false;
    for (size_t i = 0; mw_program_port_at(program, i, &port); i++)
        if (strcmp(port.name, w->name) == 0)
            return false;
    return true;
}

static mw_status load_weight(mw__pretrained *p, size_t i, mw_program *program, mw_error *err)
{
    const mw__pretrained_weight *w = &p->weights[i];
    const size_t count = (size_t)mw_shape_count(w->shape);
    float *data = mw__alloc(p->arena.allocator, count, sizeof *data, err);
    if (data == NULL)
        return MW_ERROR_MEMORY;
    mw_status status = mw__pretrained_read(p, i, data, err);
    if (status == MW_OK)
        status = mw_program_set_weights(
            program, &(mw_weight_values){.name = w->name, .dtype = MW_F32, .data = data, .count = count}, 1, err);
    mw__free(p->arena.allocator, data);
    return status;
}

mw_status mw__pretrained_load(mw__pretrained *p, mw_program *program, mw_error *err)
{
    for (size_t i = 0; i < p->count; i++)
        if (!mw__pretrained_is_left_out(p, i, program))
            MW_TRY(load_weight(p, i, program, err));
    return MW_OK;
}

/* ---- tokenizers ---- */

mw_tokenizer *mw__pretrained_tokenizer(const char *path, mw_error *err)
{
    char folder[4096];
    const char *slash = strrchr(path, '/');
    if (is_folder(path) || mw__string_ends(path, ".gguf"))
        return mw_tokenizer_open(path, err);
    const int size = slash != NULL ? snprintf(folder, sizeof folder, "%.*s", (int)(slash - path) + 1, path)
                                   : snprintf(folder, sizeof folder, ".");
    if (size < 0 || (size_t)size >= sizeof folder) {
        mw__fail(err, MW_ERROR_ARGUMENT, "a network of text: the path is too long");
        return NULL;
    }
    return mw_tokenizer_open(folder, err);
}

/* ---- configurations ---- */

/* A folder may have no weights yet. */
static mw_status read_folder_config(const char *path, mw_text_config *out, mw_error *err)
{
    mw_error own = {0};
    MW_TRY(mw__language_config_read(path, out, err));
    if (!mw__language_family(out->family)->encoder)
        return MW_OK;
    mw_tensors *tensors = mw_tensors_open(path, &own);
    if (tensors != NULL)
        mw__pretrained_take_ends(tensors, out);
    mw_tensors_destroy(tensors);
    return MW_OK;
}

static mw_status read_config(const char *path, mw_text_config *out, mw_error *err)
{
    if (mw__string_ends(path, ".json"))
        return mw__language_config_read(path, out, err);
    if (is_folder(path))
        return read_folder_config(path, out, err);
    mw__pretrained p;
    const mw_status status = mw__pretrained_open(&p, path, err);
    if (status == MW_OK)
        *out = p.config;
    mw__pretrained_deinit(&p);
    return status;
}

mw_status mw_text_config_read(const char *path, mw_text_config *out, mw_error *err)
{
    mw_error own = {0};
    if (mw__skips(err))
        return err->status;
    err = err != NULL ? err : &own;
    if (path == NULL || out == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "a configuration: no %s", path == NULL ? "path" : "place for it");
    return read_config(path, out, err);
}
