/* Counting the products of a run: which operations have some, their operands as fp16 holds them, and which results are
 * looked at. */
#include "inspect/products.h"

#include "base/number/fp16.h"
#include "graph/constants/compressed.h"
#include "graph/ir/ir.h"

#include <math.h>
#include <stdlib.h>

/* Products of one operation that are counted, about; and the results that are looked at in any case. */
enum { BUDGET = 1 << 21, LEAST = 64 };

struct mw__range_products {
    mw__range_product_source source;
    const mw_allocator *allocator;
    mw__arena arena;
    int64_t *index; /* by the id of a value: its place in `values`; -1 = none */
    float **kept;   /* by the same place: an input that products read */
};

/* ---- operands ---- */

static float rounded(double number) { return mw__fp16_to_float(mw__fp16_from_double(number)); }

static mw_status copy_numbers(const mw_allocator *allocator, const double *from, size_t count, float **out,
                              mw_error *err)
{
    *out = mw__alloc(allocator, count, sizeof **out, err);
    if (*out == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < count; i++)
        (*out)[i] = rounded(from[i]);
    return MW_OK;
}

static mw_status read_port(const mw__range_products *p, const char *port, float **out, mw_error *err)
{
    size_t count = 0;
    double *data = mw__compare_read(p->source.program, port, &count, err);
    if (data == NULL)
        return mw__status_or(err, MW_ERROR_MEMORY);
    const mw_status status = copy_numbers(p->allocator, data, count, out, err);
    mw__free(p->source.program->allocator, data);
    return status;
}

/* *out stays NULL for what is no constant, or not loaded. */
static mw_status read_constant(const mw__range_products *p, const mw_tensor *value, float **out, mw_error *err)
{
    const mw__payload *payload = mw__constant_payload(value, err);
    if (payload == NULL || payload->data == NULL)
        return err->status;
    const size_t count = mw__payload_count(payload);
    *out = mw__alloc(p->allocator, count, sizeof **out, err);
    for (size_t i = 0; *out != NULL && i < count; i++)
        (*out)[i] = rounded(mw__payload_float(payload, payload->splat ? 0 : i));
    return *out != NULL ? MW_OK : MW_ERROR_MEMORY;
}

static int64_t place_of(const mw__range_products *p, const mw_tensor *value)
{
    return value->id < p->source.graph->value_count ? p->index[value->id] : -1;
}

/* The numbers of a value, freed with mw__free unless they are kept; *out stays NULL if the run does not show them. */
static mw_status read_value(const mw__range_products *p, const mw_tensor *value, float **out, mw_error *err)
{
    *out = NULL;
    if (value == NULL)
        return MW_OK;
    const int64_t place = place_of(p, value);
    const char *port = place >= 0 ? p->source.values[place].port : NULL;
    if (place >= 0 && p->kept[place] != NULL)
        *out = p->kept[place];
    else if (port != NULL)
        return read_port(p, port, out, err);
    else
        return read_constant(p, value, out, err);
    return MW_OK;
}

static void free_value(const mw__range_products *p, const mw_tensor *value, const float *data)
{
    const int64_t place = value != NULL ? place_of(p, value) : -1;
    if (place < 0 || p->kept[place] != data)
        mw__free(p->allocator, (void *)data);
}

/* ---- before the run ---- */

static mw_status keep_input(mw__range_products *p, const mw_tensor *value, mw_error *err)
{
    const int64_t place = value != NULL ? place_of(p, value) : -1;
    if (place < 0 || p->kept[place] != NULL || p->source.values[place].op != NULL ||
        p->source.values[place].port == NULL)
        return MW_OK;
    return read_port(p, p->source.values[place].port, &p->kept[place], err);
}

/* The values that the sums of an operation name, NULL for those that they have not. */
enum { NAMED = 5 };
static void list_named(const mw__range_sums *sums, const mw_tensor *out[NAMED])
{
    const mw_tensor *const named[NAMED] = {sums->operands[0], sums->operands[1], sums->start, sums->mask, sums->query};
    for (int i = 0; i < NAMED; i++)
        out[i] = named[i];
}

static mw_status keep_inputs(mw__range_products *p, mw_error *err)
{
    for (size_t i = 0; i < p->source.count; i++) {
        mw__range_sums sums[MW__RANGE_SUMS_PARTS];
        const mw_tensor *named[NAMED];
        const mw__op *op = p->source.values[i].op;
        const int parts = op != NULL ? mw__range_sums_read(op, sums) : 0;
        for (int part = 0; part < parts; part++) {
            list_named(&sums[part], named);
            for (int k = 0; k < NAMED; k++)
                MW_TRY(keep_input(p, named[k], err));
        }
    }
    return MW_OK;
}

static mw_status begin(mw__range_products *p, mw_error *err)
{
    const size_t ids = p->source.graph->value_count;
    p->index = mw__arena_alloc(&p->arena, ids, sizeof *p->index, err);
    p->kept = mw__arena_alloc(&p->arena, p->source.count, sizeof *p->kept, err);
    if (p->index == NULL || p->kept == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < ids; i++)
        p->index[i] = -1;
    for (size_t i = 0; i < p->source.count; i++)
        p->index[p->source.values[i].value->id] = (int64_t)i;
    return keep_inputs(p, err);
}

mw__range_products *mw__range_products_begin(const mw__range_product_source *source, const mw_allocator *allocator,
                                             mw_error *err)
{
    mw__range_products *p = mw__alloc(allocator, 1, sizeof *p, err);
    if (p == NULL)
        return NULL;
    *p = (mw__range_products){.source = *source, .allocator = allocator};
    mw__arena_init(&p->arena, allocator);
    if (begin(p, err) == MW_OK)
        return p;
    mw__range_products_end(p);
    return NULL;
}

void mw__range_products_end(mw__range_products *p)
{
    if (p == NULL)
        return;
    for (size_t i = 0; p->kept != NULL && i < p->source.count; i++)
        mw__free(p->allocator, p->kept[i]);
    mw__arena_deinit(&p->arena);
    mw__free(p->allocator, p);
}

/* ---- which results are counted ---- */

static int64_t sample_size(const mw__range_sums *sums)
{
    const int64_t some = BUDGET / mw__range_sums_cost(sums), least = some > LEAST ? some : LEAST;
    return least < sums->results ? least : sums->results;
}

static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b != 0) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* From one result to the next: near the golden section of them, so that any number of them lies evenly among rows and
 * columns, and without a common divisor, so that none comes twice. */
static int64_t sample_step(int64_t results)
{
    int64_t step = (int64_t)((double)results * 0.6180339887498949);
    while (step > 1 && common_divisor(results, step) != 1)
        step--;
    return step > 0 ? step : 1;
}

/* ---- after the run ---- */

typedef struct counting {
    const mw__range_products *products;
    const mw__range_sums *sums;
    mw__range_sums_data data;
    float *x, *y; /* [depth] */
} counting;

static void count_results(const counting *c, mw__range_product_count *count)
{
    const mw__range_sums *sums = c->sums;
    const int64_t some = sample_size(sums), step = some < sums->results ? sample_step(sums->results) : 1;
    count->out->all_results = (size_t)sums->results;
    int64_t at = 0;
    for (int64_t i = 0; i < some; i++) {
        const int64_t pairs = mw__range_sums_gather(sums, &c->data, at, c->x, c->y);
        mw__range_product_add(count, c->x, c->y, pairs, mw__range_sums_start(sums, &c->data, at));
        at = at + step < sums->results ? at + step : at + step - sums->results;
    }
}

static const mw_range *item_of(const mw__range_products *p, const mw_tensor *value)
{
    const int64_t place = place_of(p, value);
    return place >= 0 ? p->source.items[place] : NULL;
}

/* A row of the report. NULL: its result is not shown. */
static mw_range_product *make_row(const counting *c, const mw_tensor *result, mw_ranges *out)
{
    const mw__range_products *p = c->products;
    const mw_range *range = item_of(p, result);
    if (range == NULL)
        return NULL;
    mw_range_product *row = &out->products[out->product_count++];
    *row = (mw_range_product){
        .range = range, .part = c->sums->part, .is_gradient = result->op->stage == MW__STEP_BACKWARD};
    for (int i = 0; i < 2; i++) {
        const mw_range *operand = item_of(p, c->sums->operands[i]);
        const bool computed = i == 0 && c->sums->kind == MW__RANGE_SUMS_WEIGHTED;
        row->operands[i] = operand != NULL && !computed ? operand->tensor : NULL;
    }
    return row;
}

static double largest_of(const mw__range_products *p, const mw__range_sums *sums, int side)
{
    const mw_range *operand = item_of(p, sums->operands[side]);
    if (side == 0 && sums->kind == MW__RANGE_SUMS_WEIGHTED)
        return 1.0;
    return operand != NULL ? operand->max_absolute : 1.0;
}

static mw_status count_sums(counting *c, const mw_tensor *result, mw_ranges *out, mw_error *err)
{
    const mw__range_products *p = c->products;
    c->x = mw__alloc(p->allocator, (size_t)c->sums->depth, sizeof *c->x, err);
    c->y = mw__alloc(p->allocator, (size_t)c->sums->depth, sizeof *c->y, err);
    const bool has_memory = c->x != NULL && c->y != NULL;
    mw_range_product *row = has_memory ? make_row(c, result, out) : NULL;
    if (row != NULL) {
        const bool drops = (p->source.arithmetic & MW__ARITHMETIC(product_drops)) != 0;
        mw__range_product_count count = {.out = row, .drops = drops};
        const double largest[2] = {largest_of(p, c->sums, 0), largest_of(p, c->sums, 1)};
        count_results(c, &count);
        mw__range_product_finish(&count, largest);
    }
    mw__free(p->allocator, c->x);
    mw__free(p->allocator, c->y);
    return has_memory ? MW_OK : MW_ERROR_MEMORY;
}

/* Reads what the sums name; an operation with a value that the run does not show is left out. */
static mw_status count_part(const mw__range_products *p, const mw__range_sums *sums, const mw_tensor *result,
                            mw_ranges *out, mw_error *err)
{
    const mw_tensor *named[NAMED];
    float *data[NAMED] = {NULL};
    mw_status status = MW_OK;
    bool whole = true;
    list_named(sums, named);
    for (int i = 0; i < NAMED && status == MW_OK; i++) {
        status = read_value(p, named[i], &data[i], err);
        whole = whole && (named[i] == NULL || data[i] != NULL);
    }
    counting c = {.products = p,
                  .sums = sums,
                  .data = {.operands = {data[0], data[1]}, .start = data[2], .mask = data[3], .query = data[4]}};
    if (status == MW_OK && whole)
        status = count_sums(&c, result, out, err);
    for (int i = 0; i < NAMED; i++)
        free_value(p, named[i], data[i]);
    return status;
}

/* What a larger loss scale would move to the end of fp16 first. */
static double gradient_headroom(const mw__range_products *p)
{
    double least = (double)INFINITY;
    for (size_t i = 0; i < p->source.count; i++) {
        const mw__compare_value *value = &p->source.values[i];
        const mw_range *item = p->source.items[i];
        const bool is_result = value->op != NULL && value->value->payload == NULL;
        if (is_result && item != NULL && value->op->stage == MW__STEP_BACKWARD && item->headroom < least)
            least = item->headroom;
    }
    return least;
}

static int compare_rows(const void *a, const void *b)
{
    return mw__range_product_order(*(const mw_range_product *const *)a, *(const mw_range_product *const *)b);
}

static mw_status make_rows(mw_ranges *out, size_t operations, mw_error *err)
{
    const size_t most = operations * MW__RANGE_SUMS_PARTS;
    out->products = mw__arena_alloc(&out->arena, most, sizeof *out->products, err);
    out->product_order = mw__arena_alloc(&out->arena, most, sizeof *out->product_order, err);
    return out->products != NULL && out->product_order != NULL ? MW_OK : MW_ERROR_MEMORY;
}

mw_status mw__range_products_count(mw__range_products *p, mw_ranges *out, mw_error *err)
{
    size_t operations = 0;
    mw__range_sums sums[MW__RANGE_SUMS_PARTS];
    for (size_t i = 0; i < p->source.count; i++)
        operations += p->source.values[i].op != NULL && mw__range_sums_read(p->source.values[i].op, sums) > 0;
    MW_TRY(make_rows(out, operations, err));
    for (size_t i = 0; i < p->source.count; i++) {
        const mw__op *op = p->source.values[i].op;
        const int parts = op != NULL ? mw__range_sums_read(op, sums) : 0;
        for (int part = 0; part < parts; part++)
            MW_TRY(count_part(p, &sums[part], op->results[0], out, err));
    }
    for (size_t i = 0; i < out->product_count; i++)
        out->product_order[i] = &out->products[i];
    out->gradient_headroom = gradient_headroom(p);
    if (out->product_count > 1)
        qsort(out->product_order, out->product_count, sizeof *out->product_order, compare_rows);
    return MW_OK;
}
