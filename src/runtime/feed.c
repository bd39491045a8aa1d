/* Matching feeds to ports, converting and checking. No allocation: this runs in every step. */
#include "runtime/feed.h"

#include "base/fp16.h"
#include "runtime/convert.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- set-up ---- */

mw_status mw__feeder_init(mw__feeder *feeder, mw_program *program, const mw_graph *graph,
                          bool (*skip)(void *user, const char *name), void *user, mw_error *err)
{
    *feeder = (mw__feeder){0};
    feeder->ports = mw__arena_alloc(&program->arena, program->input_count, sizeof *feeder->ports, err);
    if (feeder->ports == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < program->input_count; i++) {
        const mw_port *port = &program->ports[i];
        const mw_tensor *input = mw_graph_find(graph, port->name);
        if (port->is_parameter || input == NULL || input->role != MW__INPUT || (skip != NULL && skip(user, port->name)))
            continue;
        feeder->ports[feeder->count++] = (mw__feed_port){.name = port->name,
                                                         .data = mw__program_data(program, i),
                                                         .dtype = port->dtype,
                                                         .declared = input->type->dtype,
                                                         .count = mw__program_elements(program, i),
                                                         .rows = port->shape.rank > 0 ? port->shape.dim[0] : 1,
                                                         .index_limit = input->index_limit,
                                                         .index_ignored = input->index_ignored,
                                                         .index_use = input->index_use};
    }
    return MW_OK;
}

/* ---- messages ---- */

/* "step 7" or "the batch". */
static const char *subject(int64_t step, char *buffer, size_t size)
{
    if (step == 0)
        return "the batch";
    snprintf(buffer, size, "step %" PRId64, step);
    return buffer;
}

/* ", example 3" or ", example 3 (id 4711)", or nothing for what has no rows. */
static const char *example_of(const mw__feed_port *port, const mw_batch *batch, size_t element, char *buffer,
                              size_t size)
{
    buffer[0] = '\0';
    if (port->rows <= 0 || port->count < (size_t)port->rows)
        return buffer;
    const int64_t row = (int64_t)(element / (port->count / (size_t)port->rows));
    if (batch->ids != NULL && row < batch->examples)
        snprintf(buffer, size, ", example %" PRId64 " (id %" PRId64 ")", row, batch->ids[row]);
    else
        snprintf(buffer, size, ", example %" PRId64, row);
    return buffer;
}

static mw_status missing_feed(const mw__feed_port *port, const mw_batch *batch, int64_t step, mw_error *err)
{
    char names[256] = "", buffer[32];
    size_t used = 0;
    for (size_t i = 0; i < batch->feed_count && used < sizeof names - 1; i++) {
        const char *name = batch->feeds[i].name != NULL ? batch->feeds[i].name : "(NULL)";
        const int length = snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? ", " : "", name);
        used += length > 0 ? (size_t)length : 0;
    }
    return mw__fail(err, MW_ERROR_ARGUMENT, "%s has no feed \"%s\" (it has: %s)", subject(step, buffer, sizeof buffer),
                    port->name, names);
}

/* ---- checks ---- */

/* The value that a port's element holds, for indices and messages. */
static double element(const mw__feed_port *port, size_t i)
{
    float value;
    if (port->dtype == MW_I32)
        return ((const int32_t *)port->data)[i];
    if (mw__convert(&value, MW_F32, (const char *)port->data + i * (size_t)(mw_dtype_bits(port->dtype) / 8),
                    port->dtype, 1, 1.0f, 0.0f, NULL) != MW_OK)
        return 0;
    return (double)value;
}

/* Source bytes cannot become infinite if the extremes do not: then the port need not be scanned. */
static bool surely_finite(const mw_feed *feed)
{
    if (feed->dtype != MW_U8 && feed->dtype != MW_I8 && feed->dtype != MW_BOOL)
        return false;
    return fabs(255.0 * (double)feed->scale) + fabs((double)feed->offset) + 255.0 < 65504.0;
}

static mw_status check_finite(const mw__feed_port *port, const mw_feed *feed, const mw_batch *batch, int64_t step,
                              mw_error *err)
{
    if (surely_finite(feed))
        return MW_OK;
    const size_t bad = mw__find_not_finite(port->data, port->dtype, port->count);
    if (bad == port->count)
        return MW_OK;
    char buffer[32], example[64];
    const bool source_bad = mw__find_not_finite(feed->data, feed->dtype, feed->count) <= bad;
    return mw__fail(err, MW_ERROR_NUMERIC, "%s is refused: feed \"%s\" element %zu%s %s%s",
                    subject(step, buffer, sizeof buffer), port->name, bad,
                    example_of(port, batch, bad, example, sizeof example),
                    source_bad ? "is not finite" : "is too large for ", source_bad ? "" : mw_dtype_name(port->dtype));
}

/* ", nor the ignored -100", or nothing. */
static const char *ignored_of(const mw__feed_port *port, char *buffer, size_t size)
{
    buffer[0] = '\0';
    if (port->index_use == MW__INDEX_IGNORES)
        snprintf(buffer, size, ", nor the ignored %" PRId64, port->index_ignored);
    return buffer;
}

static mw_status check_indices(const mw__feed_port *port, const mw_batch *batch, int64_t step, mw_error *err)
{
    if (port->index_limit <= 0)
        return MW_OK;
    for (size_t i = 0; i < port->count; i++) {
        const double value = element(port, i);
        char buffer[32], example[64], ignored[48];
        if (value >= 0 && value < (double)port->index_limit)
            continue;
        if (port->index_use == MW__INDEX_IGNORES && value == (double)port->index_ignored)
            continue;
        return mw__fail(
            err, MW_ERROR_ARGUMENT, "%s is refused: feed \"%s\" element %zu%s is %.0f, not in 0 .. %" PRId64 "%s",
            subject(step, buffer, sizeof buffer), port->name, i, example_of(port, batch, i, example, sizeof example),
            value, port->index_limit - 1, ignored_of(port, ignored, sizeof ignored));
    }
    return MW_OK;
}

static bool is_float(mw_dtype dtype) { return dtype == MW_F16 || dtype == MW_F32 || dtype == MW_F64; }

static bool holds(mw_dtype dtype, int32_t integer)
{
    const float value = (float)integer;
    const float stored = dtype == MW_F16 ? mw__fp16_to_float(mw__fp16_from_float(value)) : value;
    return (double)stored == (double)integer;
}

/* A label on a device with fp16 ports is first an int32, so that 1.5 or 2049 does not slip through by rounding. */
static mw_status check_integral(const mw__feed_port *port, const mw_feed *feed, mw_error *err)
{
    if (is_float(port->declared) || !is_float(port->dtype))
        return MW_OK;
    const size_t size = (size_t)(mw_dtype_bits(feed->dtype) / 8);
    for (size_t i = 0; i < feed->count; i++) {
        int32_t integer;
        mw_error local = {0};
        if (mw__convert(&integer, MW_I32, (const char *)feed->data + i * size, feed->dtype, 1, feed->scale,
                        feed->offset, &local) != MW_OK)
            return mw__fail(err, local.status, "element %zu is no integer", i);
        if (!holds(port->dtype, integer))
            return mw__fail(err, MW_ERROR_ARGUMENT, "element %zu is %" PRId32 ", which %s does not have%s", i, integer,
                            mw_dtype_name(port->dtype),
                            port->dtype == MW_F16 ? " (it has all integers up to 2048)" : "");
    }
    return MW_OK;
}

/* ---- feeding ---- */

static const mw_feed *find_feed(mw__feed_port *port, const mw_batch *batch)
{
    const size_t last = port->last;
    if (last < batch->feed_count && batch->feeds[last].name != NULL && strcmp(batch->feeds[last].name, port->name) == 0)
        return &batch->feeds[last];
    for (size_t i = 0; i < batch->feed_count; i++) {
        if (batch->feeds[i].name != NULL && strcmp(batch->feeds[i].name, port->name) == 0) {
            port->last = i;
            return &batch->feeds[i];
        }
    }
    return NULL;
}

static mw_status convert_feed(const mw__feed_port *port, const mw_feed *feed, int64_t step, mw_error *err)
{
    mw_error local = {0};
    mw_status status = check_integral(port, feed, &local);
    if (status == MW_OK)
        status = mw__convert(port->data, port->dtype, feed->data, feed->dtype, feed->count, feed->scale, feed->offset,
                             &local);
    char buffer[32];
    if (status != MW_OK)
        return mw__fail(err, status, "%s is refused: feed \"%s\": %s", subject(step, buffer, sizeof buffer), port->name,
                        local.message);
    return MW_OK;
}

static mw_status feed_port(mw__feed_port *port, const mw_batch *batch, int64_t step, mw_error *err)
{
    const mw_feed *feed = find_feed(port, batch);
    char buffer[32];
    if (feed == NULL)
        return missing_feed(port, batch, step, err);
    if (feed->count != port->count)
        return mw__fail(err, MW_ERROR_SHAPE, "%s: feed \"%s\" has %zu elements, its port %zu",
                        subject(step, buffer, sizeof buffer), port->name, feed->count, port->count);
    if (feed->data == NULL && feed->count > 0)
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s: the data of feed \"%s\" is NULL",
                        subject(step, buffer, sizeof buffer), port->name);
    if (!isfinite(feed->scale) || !isfinite(feed->offset))
        return mw__fail(err, MW_ERROR_NUMERIC, "%s: scale or offset of feed \"%s\" is not finite",
                        subject(step, buffer, sizeof buffer), port->name);
    MW_TRY(convert_feed(port, feed, step, err));
    MW_TRY(check_finite(port, feed, batch, step, err));
    return check_indices(port, batch, step, err);
}

mw_status mw__feeder_feed(mw__feeder *feeder, const mw_batch *batch, int64_t step, uint64_t *out_bytes, mw_error *err)
{
    for (size_t i = 0; i < feeder->count; i++) {
        mw__feed_port *port = &feeder->ports[i];
        const mw_status status = feed_port(port, batch, step, err);
        if (status != MW_OK) {
            mw__error_subject(err, NULL, port->name);
            return status;
        }
        *out_bytes += port->count * (size_t)(mw_dtype_bits(port->dtype) / 8);
    }
    return MW_OK;
}
