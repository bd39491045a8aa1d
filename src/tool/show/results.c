/* Results: their room, and probabilities of scores. */
#include "tool/show/results.h"

#include <math.h>
#include <stdlib.h>

static bool fail_result(mw_error *err, const char *why, const char *name)
{
    if (err->status == MW_OK) {
        err->status = MW_ERROR_SHAPE;
        snprintf(err->message, sizeof err->message, "%s \"%.200s\"", why, name);
    }
    return false;
}

static bool take_room(tool_results *results, mw_error *err)
{
    const size_t count = results->count + 1;
    mw_result *wider = realloc(results->results, count * sizeof *wider);
    results->results = wider != NULL ? wider : results->results;
    mw_shape *shapes = realloc(results->shapes, count * sizeof *shapes);
    results->shapes = shapes != NULL ? shapes : results->shapes;
    return (wider != NULL && shapes != NULL) || fail_result(err, "no memory for the result", "");
}

bool tool_results_make(tool_results *results, const mw_model *model, int64_t examples, mw_error *err)
{
    mw_port port;
    *results = (tool_results){0};
    for (size_t i = 0; mw_model_port_at(model, i, &port); i++) {
        if (!port.is_output)
            continue;
        mw_shape shape;
        if (mw_model_result_shape(model, port.name, examples, &shape, err) != MW_OK)
            return false;
        const int64_t count = mw_shape_count(shape);
        if (count < 0)
            return fail_result(err, "the size is not known of the result", port.name);
        if (!take_room(results, err))
            return false;
        void *data = calloc((size_t)count + 1, sizeof(float));
        if (data == NULL)
            return fail_result(err, "no memory for the result", port.name);
        results->shapes[results->count] = shape;
        results->results[results->count++] = (mw_result){port.name, MW_F32, data, (size_t)count};
    }
    return true;
}

void tool_results_free(tool_results *results)
{
    for (size_t i = 0; i < results->count; i++)
        free(results->results[i].data);
    free(results->results);
    free(results->shapes);
    *results = (tool_results){.results = NULL};
}

void tool_soften(float *row, int64_t count)
{
    double largest = -INFINITY, sum = 0;
    for (int64_t i = 0; i < count; i++)
        largest = fmax(largest, (double)row[i]);
    for (int64_t i = 0; i < count; i++)
        sum += exp((double)row[i] - largest);
    for (int64_t i = 0; i < count; i++)
        row[i] = (float)(exp((double)row[i] - largest) / sum);
}
