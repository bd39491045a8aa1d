/* Descriptors as objects, and their names. */
#include "chip/e5/e5.h"

#include "base/file/file.h"
#include "base/memory/live.h"

#include <string.h>

static const char *const kinds[] = {"Cast",
                                    "AneInference",
                                    "EirInference",
                                    "CpuInference",
                                    "BnnsCpuInference",
                                    "MlcCpuInference",
                                    "MpsGraphInference",
                                    "E5MinimalCpu",
                                    "Quant",
                                    "Dequant",
                                    "Barrier",
                                    "JitCall"};
static const char *const elements[] = {"int4",   "uint8", "int8",   "float16", "float32", "int16",
                                       "uint16", "int32", "uint32", "int64",   "uint64"};

const char *mw_e5_kind_name(int kind)
{
    return kind >= 0 && (size_t)kind < sizeof kinds / sizeof *kinds ? kinds[kind] : NULL;
}

const char *mw_e5_element_name(int element)
{
    return element >= 0 && (size_t)element < sizeof elements / sizeof *elements ? elements[element] : NULL;
}

mw_e5 *mw__e5_make(const mw_allocator *allocator, mw_error *err)
{
    allocator = mw__allocator_or_default(allocator);
    mw_e5 *e5 = mw__live_make(allocator, sizeof *e5, MW__LIVE_E5, err);
    if (e5 == NULL)
        return NULL;
    e5->allocator = allocator;
    mw__arena_init(&e5->arena, allocator);
    return e5;
}

void mw_e5_destroy(mw_e5 *e5)
{
    if (e5 == NULL || !mw__live_remove(e5, MW__LIVE_E5, __func__))
        return;
    const mw_allocator *allocator = e5->allocator;
    mw__arena_deinit(&e5->arena);
    mw__free(allocator, e5);
}

const mw_e5_program *mw_e5_program_of(const mw_e5 *e5) { return mw__live_has(e5, MW__LIVE_E5) ? &e5->program : NULL; }

/* ---- files ---- */

mw_e5 *mw_e5_parse(const void *data, size_t size, const mw_allocator *allocator, mw_error *err)
{
    mw_error own = {0};
    err = err != NULL ? err : &own;
    if (mw__skips(err))
        return NULL;
    if (data == NULL) {
        mw__fail(err, MW_ERROR_ARGUMENT, "mw_e5_parse: the data are NULL");
        return NULL;
    }
    mw_e5 *e5 = mw__e5_make(allocator, err);
    if (e5 == NULL || mw__e5_read_program(e5, data, size, err) == MW_OK)
        return e5;
    mw_e5_destroy(e5);
    return NULL;
}

mw_e5 *mw_e5_open(const char *path, const mw_allocator *allocator, mw_error *err)
{
    mw_error own = {0};
    char *data = NULL;
    size_t size = 0;
    err = err != NULL ? err : &own;
    if (mw__skips(err))
        return NULL;
    allocator = mw__allocator_or_default(allocator);
    if (path == NULL)
        mw__fail(err, MW_ERROR_ARGUMENT, "mw_e5_open: the path is NULL");
    else if (mw__file_read(allocator, path, INT32_MAX, &data, &size, err) == MW_OK) {
        mw_e5 *e5 = mw_e5_parse(data, size, allocator, err);
        mw__free(allocator, data);
        return e5;
    }
    return NULL;
}

static mw_status encode(const mw_e5 *e5, const char *call, mw__text *out, mw_error *err)
{
    mw__text_init(out, NULL); /* mw_string_free has no object to ask */
    if (e5 == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s: the descriptor is NULL", call);
    MW_TRY(mw__live_check(e5, MW__LIVE_E5, call, err));
    if (e5->program.note_count > 0)
        return mw__fail(err, MW_ERROR_UNSUPPORTED,
                        "%s: of this descriptor not all is understood, and would be lost: %s", call,
                        e5->program.notes[0]);
    return mw__e5_encode(&e5->program, out, err);
}

char *mw_e5_bytes(const mw_e5 *e5, size_t *size, mw_error *err)
{
    mw_error own = {0};
    mw__text out;
    err = err != NULL ? err : &own;
    if (mw__skips(err))
        return NULL;
    if (encode(e5, __func__, &out, err) != MW_OK) {
        mw__text_deinit(&out);
        return NULL;
    }
    if (size != NULL)
        *size = out.size;
    return out.data;
}

mw_status mw_e5_write(const mw_e5 *e5, const char *path, mw_error *err)
{
    mw_error own = {0};
    mw__text out;
    err = err != NULL ? err : &own;
    if (mw__skips(err))
        return err->status;
    if (path == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_e5_write: the path is NULL");
    mw_status status = encode(e5, __func__, &out, err);
    if (status == MW_OK)
        status = mw__file_write(e5->allocator, path, out.data, out.size, true, err);
    mw__text_deinit(&out);
    return status;
}
