/* Matching feeds to ports. No allocation: this runs in every step. */
#include "runtime/program/feed.h"
#include "base/text/printable.h"
#include "graph/values/convert.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define NO_ELEMENT SIZE_MAX /* a refusal that is about none of the values */

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
        mw__feed_port *fed = &feeder->ports[feeder->count++];
        *fed = (mw__feed_port){.name = port->name,
                               .data = mw__program_data(program, i),
                               .rule = program->rules[i],
                               .count = mw__program_elements(program, i),
                               .bytes = mw__program_elements(program, i) *
                                        (size_t)(mw_dtype_bits(program->rules[i].dtype) / 8),
                               .rows = port->shape.rank > 0 ? port->shape.dim[0] : 1};
        fed->rule.finite = true;
    }
    return MW_OK;
}

mw_status mw__feeder_find_tables(mw__feeder *feeder, mw_program *program, const mw_graph *graph, mw_error *err)
{
    mw__arena scratch;
    mw_status status = MW_OK;
    const mw__use *const *uses = NULL;
    const mw__function *main = mw__graph_main(graph);
    mw__arena_init(&scratch, graph->allocator);
    for (size_t i = 0; i < feeder->count && main != NULL && status == MW_OK; i++) {
        mw__feed_port *fed = &feeder->ports[i];
        const bool is_float = fed->rule.declared == MW_F16 || fed->rule.declared == MW_F32;
        if ((is_float && !fed->rule.whole) || fed->rule.index_limit > 0)
            continue;
        if (uses == NULL && (uses = mw__uses_make(&scratch, main, err)) == NULL)
            status = MW_ERROR_MEMORY;
        else
            status = mw__lookups_find(&program->arena, uses, mw_graph_find(graph, fed->name), &fed->lookups, err);
    }
    mw__arena_deinit(&scratch);
    return status;
}

/* ---- messages: functions of their own, so that what a good batch goes through holds no text ---- */

/* "step 7" or "the batch". */
static const char *subject(int64_t step, char *buffer, size_t size)
{
    if (step == 0)
        snprintf(buffer, size, "the batch");
    else
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
        used += mw__printable_printf(names + used, sizeof names - used, "%s\"%s\"", i > 0 ? ", " : "", name);
    }
    return mw__fail(err, MW_ERROR_ARGUMENT, "%s has no feed \"%s\" (it has: %s)", subject(step, buffer, sizeof buffer),
                    port->name, names);
}

static mw_status refused_feed(const mw__feed_port *port, const mw_batch *batch, int64_t step,
                              const mw__refusal *refusal, mw_error *err)
{
    char buffer[32], example[64];
    if (refusal->element == NO_ELEMENT)
        return mw__fail(err, refusal->status, "%s is refused: feed \"%s\": %s", subject(step, buffer, sizeof buffer),
                        port->name, refusal->text);
    return mw__fail(err, refusal->status, "%s is refused: feed \"%s\" element %zu%s %s",
                    subject(step, buffer, sizeof buffer), port->name, refusal->element,
                    example_of(port, batch, refusal->element, example, sizeof example), refusal->text);
}

/* A feed that is not fit to be looked at. */
static mw_status unfit_feed(const mw__feed_port *port, const mw_feed *feed, int64_t step, mw_error *err)
{
    char buffer[32];
    subject(step, buffer, sizeof buffer);
    if (feed->count != port->count)
        return mw__fail(err, MW_ERROR_SHAPE, "%s: feed \"%s\" has %zu elements, its port %zu", buffer, port->name,
                        feed->count, port->count);
    if (feed->data == NULL && feed->count > 0)
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s: the data of feed \"%s\" is NULL", buffer, port->name);
    return mw__fail(err, MW_ERROR_NUMERIC, "%s: scale or offset of feed \"%s\" is not finite", buffer, port->name);
}

static mw_status bad_name(const mw_batch *batch, int64_t step, size_t first, size_t second, mw_error *err)
{
    char buffer[32];
    subject(step, buffer, sizeof buffer);
    if (batch->feeds[second].name == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s: feed %zu has no name", buffer, second);
    return mw__fail(err, MW_ERROR_ARGUMENT, "%s: feeds %zu and %zu are both called \"%s\"", buffer, first, second,
                    batch->feeds[second].name);
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

static mw_status outside_table(const mw__lookup *lookup, double value, size_t element, mw__refusal *refusal)
{
    char from_end[80] = "";
    refusal->status = MW_ERROR_ARGUMENT;
    refusal->element = element;
    if (lookup->low < 0)
        snprintf(from_end, sizeof from_end, ", nor from the end in %" PRId64 " .. -1", lookup->low);
    mw__printable_printf(refusal->text, sizeof refusal->text,
                         "is %.17g, not in 0 .. %" PRId64 " of the table that it looks into%s", value,
                         lookup->limit - 1, from_end);
    return refusal->status;
}

/* Indices beyond their table, which an engine would take for rows of zeros. What is not finite is refused elsewhere. */
static mw_status check_lookups(const mw__feed_port *port, const mw__values *values, mw__refusal *refusal)
{
    const double scale = values->scale != 0.0f ? (double)values->scale : 1.0, offset = (double)values->offset;
    if (!mw__is_host_type(values->dtype))
        return MW_OK; /* which is refused elsewhere */
    for (const mw__lookup *lookup = port->lookups; lookup != NULL; lookup = lookup->next) {
        const size_t inner = (size_t)lookup->inner, period = inner * (size_t)lookup->extent;
        for (size_t run = 0; run < values->count; run += period) /* some inputs have many look-ups, each of a column */
            for (size_t i = run + inner * (size_t)lookup->begin;
                 i < run + inner * (size_t)lookup->end && i < values->count; i++) {
                const double value = trunc(mw__load_element(values->data, values->dtype, i) * scale + offset);
                const bool inside = value >= (double)lookup->low && value < (double)lookup->limit;
                if (!inside && isfinite(value))
                    return outside_table(lookup, value, i, refusal);
            }
    }
    return MW_OK;
}

static mw_status enter_values(const mw__feed_port *port, const mw__values *values, mw__refusal *refusal)
{
    *refusal = (mw__refusal){.element = values->count};
    if (port->lookups != NULL && check_lookups(port, values, refusal) != MW_OK)
        return refusal->status;
    const mw_status status = mw__values_enter(port->data, values, &port->rule, refusal);
    if (refusal->element >= values->count)
        refusal->element = NO_ELEMENT;
    return status;
}

static mw_status convert_feed(const mw__feed_port *port, const mw_feed *feed, const mw_batch *batch, int64_t step,
                              mw_error *err)
{
    const mw__values values = {feed->data, feed->dtype, feed->count, feed->scale, feed->offset};
    mw__refusal refusal;
    if (enter_values(port, &values, &refusal) == MW_OK)
        return MW_OK;
    return refused_feed(port, batch, step, &refusal, err);
}

static mw_status feed_port(mw__feed_port *port, const mw_batch *batch, int64_t step, mw_error *err)
{
    const mw_feed *feed = find_feed(port, batch);
    if (feed == NULL)
        return missing_feed(port, batch, step, err);
    if (feed->count != port->count || (feed->data == NULL && feed->count > 0) || !isfinite(feed->scale) ||
        !isfinite(feed->offset))
        return unfit_feed(port, feed, step, err);
    return convert_feed(port, feed, batch, step, err);
}

bool mw__feeder_fits(const mw__feeder *feeder, const mw_batch *batch)
{
    for (size_t i = 0; i < feeder->count; i++) {
        const mw_feed *feed = find_feed(&feeder->ports[i], batch);
        if (feed == NULL || feed->count != feeder->ports[i].count)
            return false;
    }
    return true;
}

/* Two feeds of one name: which of them is meant cannot be decided. */
static mw_status check_names(const mw_batch *batch, int64_t step, mw_error *err)
{
    for (size_t i = 0; i < batch->feed_count; i++) {
        const char *name = batch->feeds[i].name;
        if (name == NULL)
            return bad_name(batch, step, i, i, err);
        for (size_t k = 0; k < i; k++)
            if (name[0] == batch->feeds[k].name[0] && strcmp(name, batch->feeds[k].name) == 0)
                return bad_name(batch, step, k, i, err);
    }
    return MW_OK;
}

mw_status mw__feeder_feed(mw__feeder *feeder, const mw_batch *batch, int64_t step, uint64_t *out_bytes, mw_error *err)
{
    MW_TRY(check_names(batch, step, err));
    for (size_t i = 0; i < feeder->count; i++) {
        mw__feed_port *port = &feeder->ports[i];
        const mw_status status = feed_port(port, batch, step, err);
        if (status != MW_OK) {
            mw__error_subject(err, NULL, port->name);
            return status;
        }
        *out_bytes += port->bytes;
    }
    return MW_OK;
}

/* ---- some of the examples of a batch ---- */

/* Element 0 stands for the `count` behind it. */
static void repeat(void *data, size_t size, size_t count)
{
    for (size_t i = 1; i < count; i++)
        memcpy((char *)data + i * size, data, size);
}

static mw_status feed_standard(const mw__feed_port *port, const mw_batch *batch, mw_error *err)
{
    const mw__values values = {.data = &port->standard, .dtype = MW_F64, .count = 1};
    mw__refusal refusal;
    if (port->count == 0)
        return MW_OK;
    if (enter_values(port, &values, &refusal) != MW_OK)
        return refused_feed(port, batch, 0, &refusal, err);
    repeat(port->data, port->bytes / port->count, port->count);
    return MW_OK;
}

static mw_status feed_some(const mw__feed_port *port, const mw_feed *feed, const mw_batch *batch,
                           const mw__feed_range *range, mw_error *err)
{
    const size_t each = port->count / (size_t)range->room, expected = each * (size_t)batch->examples;
    if (feed->count != expected)
        return mw__fail(err, MW_ERROR_SHAPE, "the batch: feed \"%s\" has %zu elements, %" PRId64 " examples have %zu",
                        port->name, feed->count, batch->examples, expected);
    if ((feed->data == NULL && feed->count > 0) || !isfinite(feed->scale) || !isfinite(feed->offset) ||
        !mw__is_host_type(feed->dtype))
        return unfit_feed(port, feed, 0, err);
    const size_t skipped = (size_t)range->first * each, bytes = port->count > 0 ? port->bytes / port->count : 0;
    const char *data = (const char *)feed->data + skipped * (size_t)(mw_dtype_bits(feed->dtype) / 8);
    const mw__values values = {data, feed->dtype, (size_t)range->take * each, feed->scale, feed->offset};
    mw__refusal refusal;
    if (enter_values(port, &values, &refusal) != MW_OK) {
        refusal.element += refusal.element != NO_ELEMENT ? skipped : 0;
        return refused_feed(port, batch, 0, &refusal, err);
    }
    char *last = (char *)port->data + (size_t)(range->take - 1) * each * bytes;
    repeat(last, each * bytes, (size_t)(range->room - range->take) + 1);
    return MW_OK;
}

mw_status mw__feeder_feed_range(mw__feeder *feeder, const mw_batch *batch, const mw__feed_range *range, mw_error *err)
{
    MW_TRY(check_names(batch, 0, err));
    for (size_t i = 0; i < feeder->count; i++) {
        mw__feed_port *port = &feeder->ports[i];
        const mw_feed *feed = find_feed(port, batch);
        const mw_status status = feed != NULL     ? feed_some(port, feed, batch, range, err)
                                 : port->optional ? feed_standard(port, batch, err)
                                                  : missing_feed(port, batch, 0, err);
        if (status != MW_OK) {
            mw__error_subject(err, NULL, port->name);
            return status;
        }
    }
    return MW_OK;
}
