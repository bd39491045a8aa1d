#include "format/onnx/read/open.h"
#include "graph/ir/ir.h"
#include "graph/transform/extents/generalize.h"

#include <stdio.h>
#include <string.h>

/* ---- extents ---- */

/* No two dimensions are alike in a choice, and none keeps its extent. */
static const int64_t choices[MW__WITNESSES][MW__ONNX_OPEN_MAX] = {{2, 3, 5, 7}, {3, 5, 7, 4}, {5, 7, 9, 6}};
/* Tried in this order: extents that no table of 64 numbers folds and that halve a few times, then small ones, for
 * models that have a longest sequence, then large ones, for windows and borders that need a long one. */
static const int64_t units[] = {32, 8, 1, 128, 512, 2048, 8192, 32768};

static int find_extent(const mw__onnx_open *open, const char *name, const char *input, int axis)
{
    for (int i = 0; i < open->count; i++) {
        const bool both = name != NULL && open->at[i].name != NULL;
        if (both ? strcmp(open->at[i].name, name) == 0
                 : name == NULL && open->at[i].name == NULL && open->at[i].axis == axis &&
                       strcmp(open->at[i].input, input) == 0)
            return i;
    }
    return -1;
}

static mw_status refuse_open_extent(mw_error *err, const char *path, const mw__onnx_open *open, int index,
                                    const char *why)
{
    const char *name = open->at[index].name;
    const bool because = why[0] != '\0';
    return mw__fail(err, MW_ERROR_SHAPE,
                    "\"%.100s\": axis %d of the input \"%.80s\" is %s%.60s%s: say its extent in options.%s%s%.300s%s",
                    path, open->at[index].axis, open->at[index].input, name != NULL ? "called \"" : "open",
                    name != NULL ? name : "", name != NULL ? "\"" : "", name != NULL ? "extents" : "shapes",
                    because ? " (it cannot stay open: " : "", why, because ? ")" : "");
}

mw_status mw__onnx_open_extent(const mw__onnx_import *import, const char *name, const char *input, int axis,
                               int64_t *out)
{
    mw__onnx_open *open = import->open;
    int index = find_extent(open, name, input, axis);
    if (index < 0 && open->count == MW__ONNX_OPEN_MAX)
        return mw__fail(import->err, MW_ERROR_SHAPE,
                        "\"%.200s\": more than %d dimensions are open: say extents in options.extents",
                        import->source.path, MW__ONNX_OPEN_MAX);
    if (index < 0) {
        index = open->count++;
        open->at[index].name = name;
        open->at[index].input = input;
        open->at[index].axis = axis;
    }
    if (open->unit == 0)
        return refuse_open_extent(import->err, import->source.path, open, index, "");
    *out = open->unit * choices[open->witness][index];
    return MW_OK;
}

/* ---- graphs ---- */

/* Reads the rest of the choices, of which the first is there, and frees them all. */
static mw_graph *build_rest(const Mw__Onnx__Model *model, const mw__onnx_request *request, mw_graph *first,
                            mw__onnx_open *open, mw_error *err)
{
    mw_graph *witness[MW__WITNESSES] = {first}, *made = NULL;
    open->read = true;
    for (int k = 1; open->read && k < MW__WITNESSES; k++) {
        mw__onnx_open next = {.witness = k, .unit = open->unit};
        witness[k] = mw__onnx_build(model, request, &next, err);
        open->read = witness[k] != NULL;
    }
    if (open->read)
        made = mw__generalize(witness, err);
    for (int k = 0; k < MW__WITNESSES; k++)
        mw__graph_free(witness[k]);
    return made;
}

/* With choices of one unit. *out_open is what was open: nothing, and the graph is as it is. */
static mw_graph *build_with(const Mw__Onnx__Model *model, const mw__onnx_request *request, int64_t unit,
                            mw__onnx_open *out_open, mw_error *err)
{
    *out_open = (mw__onnx_open){.unit = unit};
    mw_graph *first = mw__onnx_build(model, request, out_open, err);
    return first == NULL || out_open->count == 0 ? first : build_rest(model, request, first, out_open, err);
}

/* Nothing was open, or other extents do not help. */
static bool is_final(const mw__onnx_open *open, const mw_error *err)
{
    return open->count == 0 || err->status == MW_ERROR_MEMORY || err->status == MW_ERROR_FORMAT ||
           err->status == MW_ERROR_FILE;
}

/* With the first unit that the model takes. If it takes none, what is said is the reason for the smallest one. */
static mw_graph *try_units(const Mw__Onnx__Model *model, const mw__onnx_request *request, mw__onnx_open *out_open,
                           mw_error *err)
{
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        mw_error why = {0};
        mw__onnx_open open;
        mw_graph *graph = build_with(model, request, units[i], &open, &why);
        const bool done = graph != NULL || is_final(&open, &why);
        if (done || i == 0 || units[i] == 1) {
            *out_open = open;
            *err = why;
        }
        if (done || (units[i] == 1 && open.read)) /* longer extents do not help what has no form for any extent */
            return graph;
    }
    return NULL;
}

mw_graph *mw__onnx_build_open(const Mw__Onnx__Model *model, const mw__onnx_request *request, mw_error *err)
{
    mw__onnx_open open = {0};
    if (!request->options->flexible)
        return mw__onnx_build(model, request, &open, err);
    mw_onnx_options silent = *request->options;
    silent.report = NULL; /* what is said of one choice is said again of the next */
    const mw__onnx_request quiet = {&silent,        request->path, request->folder_of, request->evaluator,
                                    request->store, request->self};
    mw_error why = {0};
    mw_graph *graph = try_units(model, &quiet, &open, &why);
    if (graph != NULL)
        return graph;
    if (is_final(&open, &why) || (why.status == MW_ERROR_UNSUPPORTED && !open.read)) {
        *err = why;
        if (request->options->report != NULL && why.status == MW_ERROR_UNSUPPORTED) {
            mw_error_clear(&why);
            mw__onnx_open again = {.unit = open.unit};
            mw__graph_free(mw__onnx_build(model, request, &again, &why));
        }
    } else {
        refuse_open_extent(err, request->path, &open, 0, why.message);
    }
    return NULL;
}
