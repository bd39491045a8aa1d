#include "mil/write_use.h"
#include "base/text/error.h"

#include <string.h>

#define FILES (MW__USE_MIL | MW__USE_PACKAGE | MW__USE_ONNX | MW__USE_NETPLIST)
#define CALLS (MW__USE_GRAPH | MW__USE_MODEL | MW__USE_TRAINER)

typedef struct write_option {
    const char *name;
    size_t offset, size;
    unsigned formats, calls; /* that have a use for it */
    const char *whom;        /* the same for a message */
} write_option;

#define ROW(field, formats, calls, whom)                                                                               \
    {                                                                                                                  \
#field, offsetof(mw_write_options, field), sizeof(((mw_write_options *)NULL)->field), formats, calls, whom     \
    }

static const write_option rows[] = {
    ROW(opset, MW__USE_MIL | MW__USE_PACKAGE | MW__USE_TEXT, CALLS, "MIL and Core ML"),
    ROW(function, MW__USE_ONNX, MW__USE_GRAPH | MW__USE_TRAINER, "an ONNX file of a graph"),
    ROW(report, MW__USE_ONNX, CALLS, "an ONNX file"),
    ROW(any_batch, MW__USE_ONNX, MW__USE_GRAPH | MW__USE_MODEL,
        "an ONNX file of a graph or a model; that of a trainer takes any number of examples by itself"),
    ROW(bake, FILES | MW__USE_TEXT, MW__USE_GRAPH, "a graph; a model and a trainer have values of their own"),
    ROW(replace, FILES | MW__USE_TEXT, MW__USE_GRAPH, "a graph; a model and a trainer have values of their own"),
    ROW(keep_batch, FILES, MW__USE_TRAINER, "a trainer"),
    ROW(check_only, FILES, CALLS, "files"),
};

/* Whether it is another one than mw_write_defaults has: all of these begin as 0. */
static bool is_set(const mw_write_options *options, const write_option *row)
{
    static const unsigned char zeros[sizeof(void *)];
    return memcmp((const char *)options + row->offset, zeros, row->size) != 0;
}

mw_status mw__write_use_check(const mw_write_options *options, unsigned use, const char *call, const char *path,
                              mw_error *err)
{
    if (options->struct_size != sizeof *options)
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s: the options were not made by mw_write_defaults", call);
    if (options->description != NULL && options->description->struct_size != sizeof *options->description)
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s: the description was not made by mw_description_defaults", call);
    for (const write_option *row = rows; row < rows + sizeof rows / sizeof rows[0]; row++)
        if (is_set(options, row) && ((row->formats & use) == 0 || (row->calls & use) == 0))
            return mw__fail(err, MW_ERROR_ARGUMENT, "%s: %s%.160s%s`%s` is for %s", call, path != NULL ? "\"" : "",
                            path != NULL ? path : "", path != NULL ? "\": " : "", row->name, row->whom);
    return MW_OK;
}
