/* Operations with wrong arguments: the graph of a case of the operation table is built again through mw_op with
 * arguments changed, left out, repeated and exchanged, then printed, read, verified, differentiated, compiled for the
 * CPU and the ANE, with and without fused regions, and run twice on hostile values. Every refusal must carry a message,
 * and all runs on a device must agree.
 *
 * Input: the name of an operation, a newline, then bytes that choose; when they run out, nothing more is changed.
 * MW_TEST_SHOW=1 prints the graph. */
#include "base/memory/alloc.h"
#include "fuzz/replay.h"
#include "support/cases/op_cases.h"
#include "support/setting.h"

#include <float.h>
#include <math.h>
#include <millwright/millwright.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    RESULTS = 64,
    CASES_MAX = 3,
    POOL_MAX = 512,
    SLOTS_MAX = 32,
    MEMBERS_MAX = 16,
    ELEMENTS_MAX = 1 << 14,
    VALUES_MAX = 20000
};

#define REQUEST_MAX ((size_t)1 << 26)

typedef struct source {
    const uint8_t *data;
    size_t size, at;
} source;

typedef struct maker {
    source *bytes;
    mw_graph *graph;
    mw_tensor *pool[POOL_MAX]; /* every value so far */
    size_t count;
    mw_tensor **map; /* values of the case's graph, by id, in `graph` */
    size_t inputs;
} maker;

static void defect(const char *what, const char *detail)
{
    fprintf(stderr, "fuzz_op: %s: %s\n", what, detail);
    abort();
}

/* The C library's heap, but for requests that no small graph needs. */
static void *resize(void *user, void *pointer, size_t size)
{
    (void)user;
    if (size > REQUEST_MAX)
        return NULL;
    if (size > 0)
        return realloc(pointer, size);
    free(pointer);
    return NULL;
}

static const mw_allocator allocator = {.resize = resize};

static uint8_t take(source *bytes) { return bytes->at < bytes->size ? bytes->data[bytes->at++] : 0; }

/* True about once in 16 bytes. */
static bool strikes(source *bytes) { return take(bytes) > 239; }

static void check_refusal(const mw_error *err, const char *what)
{
    if (err->status == MW_OK || err->message[0] == '\0')
        defect("a refusal without status or message", what);
}

/* ---- leaves ---- */

static mw_tensor *keep(maker *m, mw_tensor *value)
{
    if (value != NULL && m->count < POOL_MAX)
        m->pool[m->count++] = value;
    return value;
}

static mw_dtype any_dtype(source *bytes)
{
    static const mw_dtype types[] = {MW_F16, MW_F32, MW_I32, MW_BOOL, MW_I8, MW_U8, MW_I16, MW_U16, MW_U32, MW_F64};
    return types[take(bytes) % (sizeof types / sizeof *types)];
}

static mw_shape any_shape(source *bytes)
{
    mw_shape shape = {.rank = take(bytes) % 6};
    for (int i = 0; i < shape.rank; i++)
        shape.dim[i] = take(bytes) % 7 - 1;
    return shape;
}

static mw_tensor *make_input(maker *m, mw_dtype dtype, mw_shape shape)
{
    source *bytes = m->bytes;
    if (strikes(bytes))
        dtype = any_dtype(bytes);
    if (strikes(bytes))
        shape = any_shape(bytes);
    if (strikes(bytes) && shape.rank > 0)
        shape.dim[take(bytes) % shape.rank] = take(bytes) % 7 - 1;
    for (size_t i = 0; (take(bytes) & 1) != 0 && i < m->count; i++) {
        mw_tensor *other = m->pool[m->count - 1 - i];
        if (!mw__is_constant(other) && mw_tensor_dtype(other) == dtype && mw_shape_equal(mw_tensor_shape(other), shape))
            return other;
    }
    char name[32];
    snprintf(name, sizeof name, "in%zu", m->inputs++);
    return keep(m, mw_input(m->graph, name, dtype, shape));
}

static double any_number(source *bytes)
{
    static const double edges[] = {0,    -1,        1,         2,           3,    -2,    -3,    7,    100, 0.5,
                                   -0.5, INT32_MAX, INT32_MIN, 2147483648., 1e18, -1e18, 65504, 1e30, NAN, 1e-30};
    const uint8_t b = take(bytes);
    if (b < 64)
        return (double)b - 16;
    if (b == 255)
        return HUGE_VAL;
    return edges[b % (sizeof edges / sizeof *edges)];
}

static void store(void *data, mw_dtype dtype, size_t i, double value)
{
    const double integer = value == value ? fmax(fmin(value, INT32_MAX), INT32_MIN) : 0;
    if (dtype == MW_F32)
        ((float *)data)[i] = (float)fmax(fmin(value, FLT_MAX), -FLT_MAX);
    else if (dtype == MW_F64)
        ((double *)data)[i] = value;
    else if (mw_dtype_bits(dtype) == 32)
        ((int32_t *)data)[i] = (int32_t)integer;
    else if (dtype == MW_BOOL)
        ((uint8_t *)data)[i] = integer != 0;
    else if (mw_dtype_bits(dtype) == 8)
        ((uint8_t *)data)[i] = (uint8_t)(int32_t)integer;
    else
        ((uint16_t *)data)[i] = (uint16_t)(int32_t)integer;
}

static mw_tensor *any_constant(maker *m)
{
    source *bytes = m->bytes;
    mw_shape shape = {.rank = take(bytes) % 3};
    if (shape.rank == 2)
        shape = any_shape(bytes);
    else if (shape.rank == 1)
        shape.dim[0] = take(bytes) % 6;
    for (int i = 0; i < shape.rank; i++)
        shape.dim[i] = shape.dim[i] < 0 ? 0 : shape.dim[i];
    double data[6 * 6 * 6 * 6 * 6];
    const mw_dtype dtype = (take(bytes) & 1) != 0 ? MW_I32 : any_dtype(bytes);
    const int64_t count = mw_shape_count(shape);
    for (int64_t i = 0; i < count; i++)
        store(data, dtype, (size_t)i, i < 64 ? any_number(bytes) : 0);
    return mw_constant(m->graph, dtype, shape, data);
}

static mw_tensor *any_text(maker *m)
{
    static const char *const words[] = {
        "",    "valid", "same",  "custom",   "same_lower", "constant", "reflect",  "add", "update", "min",      "tanh",
        "sum", "EXACT", "bogus", "nkcd->nk", "i,i->",      "a->bb",    "bcd,d->b", "->",  ",,",     "symmetric"};
    return mw_text(m->graph, words[take(m->bytes) % (sizeof words / sizeof *words)]);
}

/* The constant of the case, or one with an element, its type or all of it changed. */
static mw_tensor *make_constant(maker *m, const mw__payload *payload)
{
    source *bytes = m->bytes;
    if (payload->strings != NULL)
        return strikes(bytes) ? any_text(m) : mw_text(m->graph, payload->strings[0]);
    if (strikes(bytes))
        return any_constant(m);
    const size_t count = mw__payload_count(payload);
    const mw_dtype dtype = strikes(bytes) ? any_dtype(bytes) : payload->type->dtype;
    if (count > ELEMENTS_MAX || mw_dtype_bits(dtype) < 8)
        return NULL;
    double *data = calloc(count + 1, sizeof *data);
    if (data == NULL)
        return NULL;
    if (dtype == payload->type->dtype && !payload->splat)
        memcpy(data, payload->data, payload->size);
    else
        for (size_t i = 0; i < count; i++)
            store(data, dtype, i, mw__payload_float(payload, i));
    while (count > 0 && take(bytes) > 232)
        store(data, dtype, take(bytes) % count, any_number(bytes));
    mw_tensor *made = mw_constant(m->graph, dtype, payload->type->shape, data);
    free(data);
    return made;
}

/* ---- operations ---- */

typedef struct call {
    mw_argument arguments[SLOTS_MAX + 2];
    mw_tensor *members[SLOTS_MAX + 2][MEMBERS_MAX];
    size_t count;
} call;

static mw_tensor *any_value(maker *m)
{
    const uint8_t b = take(m->bytes);
    if (b < 80 || m->count == 0)
        return keep(m, any_constant(m));
    return b < 88 ? any_text(m) : m->pool[b % m->count];
}

static void change_argument(maker *m, call *c, size_t i)
{
    source *bytes = m->bytes;
    mw_argument *argument = &c->arguments[i];
    switch (take(bytes) % 6) {
    case 0:
        c->count--;
        c->arguments[i] = c->arguments[c->count];
        break;
    case 1:
        argument->count = take(bytes) % MEMBERS_MAX;
        for (size_t k = 0; k < argument->count; k++)
            c->members[i][k] = any_value(m);
        argument->values = c->members[i];
        break;
    case 2:
        c->arguments[c->count++] = *argument;
        break;
    case 3:
        argument->name = c->arguments[take(bytes) % c->count].name;
        break;
    default:
        c->members[i][0] = any_value(m);
        argument->values = c->members[i];
        argument->count = argument->count > 0 ? argument->count : 1;
        for (size_t k = 1; k < argument->count; k++)
            c->members[i][k] = c->members[i][0];
    }
}

static void read_call(maker *m, const mw__op *op, call *c)
{
    c->count = 0;
    for (size_t s = 0; s < op->slot_count && c->count < SLOTS_MAX; s++) {
        const mw__slot *slot = &op->slots[s];
        if (slot->operands == NULL || slot->count > MEMBERS_MAX)
            continue;
        for (size_t k = 0; k < slot->count; k++)
            c->members[c->count][k] = m->map[slot->operands[k].value->id];
        c->arguments[c->count] =
            (mw_argument){.name = slot->name, .values = c->members[c->count], .count = slot->count};
        c->count++;
    }
    for (int changes = 0; changes < 2 && c->count > 0 && strikes(m->bytes); changes++)
        change_argument(m, c, take(m->bytes) % c->count);
}

static bool make_op(maker *m, const mw__op *op)
{
    call c;
    read_call(m, op, &c);
    mw_tensor *results[RESULTS];
    const size_t known = op->result_count < RESULTS ? op->result_count : RESULTS;
    const size_t wanted = strikes(m->bytes) ? take(m->bytes) % RESULTS : known;
    mw_error err = {0};
    if (mw_graph_check(m->graph, NULL) != MW_OK)
        return false;
    if (mw_op(m->graph, op->kind, c.arguments, c.count, results, wanted, &err) != MW_OK) {
        check_refusal(&err, op->kind);
        if (strstr(err.message, op->kind) == NULL)
            defect("a message that does not name its operation", err.message);
        if (mw_graph_check(m->graph, NULL) == MW_OK)
            defect("an error that does not stick", err.message);
        return false;
    }
    for (size_t i = 0; i < wanted; i++) {
        keep(m, results[i]);
        if (i < op->result_count)
            m->map[op->results[i]->id] = results[i];
    }
    return wanted == op->result_count;
}

/* Appends the graph of a case, changed; returns its result or NULL. */
static mw_tensor *make_case(maker *m, const op_case *c)
{
    op_instance from;
    bool good = op_instance_init(&from, c, (take(m->bytes) & 1) != 0 ? MW_F16 : MW_F32, 1);
    m->map = calloc(from.graph->value_count + 1, sizeof *m->map);
    good = good && m->map != NULL;
    for (size_t i = 0; good && i < from.graph->value_count; i++) {
        const mw_tensor *value = from.graph->values[i];
        if (value->payload != NULL)
            good = (m->map[i] = make_constant(m, value->payload)) != NULL;
        else if (value->role != MW__VALUE)
            good = (m->map[i] = make_input(m, mw_tensor_dtype(value), mw_tensor_shape(value))) != NULL;
    }
    const mw__block *body = from.graph->current->body;
    for (size_t i = 0; good && i < body->op_count; i++)
        good = body->ops[i]->results[0]->payload != NULL || make_op(m, body->ops[i]);
    mw_tensor *y = good ? m->map[from.y->id] : NULL;
    free(m->map);
    op_instance_deinit(&from);
    return y;
}

/* ---- what is done with the graph ---- */

static bool is_float(const mw_tensor *x) { return mw_tensor_dtype(x) == MW_F16 || mw_tensor_dtype(x) == MW_F32; }

static void check_text(const mw_graph *graph)
{
    mw_error err = {0};
    char *text = mw_graph_print_mil(graph, NULL, &err);
    if (text == NULL) {
        check_refusal(&err, "print");
        return;
    }
    mw_graph *again = mw_graph_parse_mil(text, strlen(text), NULL, NULL, &err);
    if (again == NULL || (strstr(text, "BLOBFILE") == NULL && mw_graph_verify(again, &err) != MW_OK))
        defect("a printed graph is refused", err.message);
    char *second = mw_graph_print_mil(again, NULL, &err);
    if (second == NULL || strcmp(text, second) != 0)
        defect("a printed graph prints otherwise", text);
    mw_string_free(second);
    mw_graph_destroy(again);
    mw_string_free(text);
}

/* Gradients of the sum of y for the inputs; they become results. */
static void differentiate(maker *m, mw_tensor *y)
{
    mw_tensor *x[8], *dx[8];
    size_t count = 0;
    for (size_t i = 0; i < m->count && count < 8; i++)
        if (m->pool[i]->role == MW__INPUT && is_float(m->pool[i]))
            x[count++] = m->pool[i];
    mw_error err = {0};
    mw_tensor *loss = is_float(y) ? mw_reduce_sum(y, MW_ALL_AXES, false) : NULL;
    if (loss == NULL || count == 0)
        return;
    if (mw_grad(loss, x, count, dx, &err) != MW_OK) {
        check_refusal(&err, "gradient");
        return;
    }
    for (size_t i = 0; i < count; i++) {
        char name[16];
        snprintf(name, sizeof name, "dx%zu", i);
        if (dx[i] == NULL || !mw__type_fits(x[i]->type, mw_tensor_dtype(dx[i]), mw_tensor_shape(dx[i])))
            defect("a gradient of another shape", mw_tensor_name(x[i]));
        mw_output(dx[i], name);
    }
}

static bool is_small(const mw_graph *graph)
{
    int64_t total = 0;
    if (graph->value_count > VALUES_MAX)
        return false;
    for (size_t i = 0; i < graph->value_count; i++) {
        const int64_t count = mw_shape_count(mw_tensor_shape(graph->values[i]));
        if (count > ELEMENTS_MAX || (total += count) > 64 * ELEMENTS_MAX)
            return false;
    }
    return true;
}

static bool fill(mw_program *program, const mw_port *port, source bytes)
{
    const int64_t count = mw_shape_count(port->shape);
    static double data[ELEMENTS_MAX];
    const mw_dtype dtype = port->dtype == MW_F16 || port->dtype == MW_F64 ? MW_F32 : port->dtype;
    for (int64_t i = 0; i < count; i++)
        store(data, dtype, (size_t)i, any_number(&bytes));
    if (dtype == MW_F32 && count > 1 && (take(&bytes) & 1) != 0)
        ((float *)data)[count / 2] = (take(&bytes) & 1) != 0 ? NAN : INFINITY;
    mw_error err = {0};
    if (mw_program_write(program, port->name, dtype, data, (size_t)count, &err) == MW_OK)
        return true;
    check_refusal(&err, "write");
    return false;
}

/* Every NaN gets the same bits: which of two operands' NaN goes on is not promised. */
static void unify_nan(unsigned char *data, mw_dtype dtype, size_t size)
{
    static const uint32_t nan32 = 0x7fc00000;
    static const uint16_t nan16 = 0x7e00;
    for (size_t at = 0; dtype == MW_F32 && at < size; at += sizeof nan32) {
        float value;
        memcpy(&value, data + at, sizeof value);
        if (isnan(value))
            memcpy(data + at, &nan32, sizeof nan32);
    }
    for (size_t at = 0; dtype == MW_F16 && at < size; at += sizeof nan16) {
        uint16_t bits;
        memcpy(&bits, data + at, sizeof bits);
        if ((bits & 0x7fff) > 0x7c00)
            memcpy(data + at, &nan16, sizeof nan16);
    }
}

/* Runs and returns the bytes of all results, one after the other; NULL if it is refused. */
static unsigned char *run_once(mw_program *program, source bytes, size_t *out_size)
{
    mw_error err = {0};
    mw_port port;
    *out_size = 0;
    for (size_t i = 0; mw_program_port_at(program, i, &port); i++)
        if (!port.is_output && !fill(program, &port, bytes))
            return NULL;
    if (mw_program_run(program, &err) != MW_OK) {
        check_refusal(&err, "run");
        return NULL;
    }
    unsigned char *all = malloc(1);
    for (size_t i = 0; all != NULL && mw_program_port_at(program, i, &port); i++) {
        const size_t size = (size_t)mw_shape_count(port.shape) * (size_t)(mw_dtype_bits(port.dtype) / 8);
        unsigned char *more = port.is_output ? realloc(all, *out_size + size + 1) : NULL;
        if (more == NULL)
            continue;
        all = more;
        if (size > 0)
            memcpy(all + *out_size, mw_program_view(program, port.name, &err), size);
        unify_nan(all + *out_size, port.dtype, size);
        *out_size += size;
    }
    return all;
}

static unsigned char *compile_and_run(const mw_graph *graph, const mw_compile_options *options, bool fuse, source bytes,
                                      size_t *out_size)
{
    mw_error err = {0};
    setting_begin("MW_ENGINE_FUSE", fuse ? "1" : "0");
    mw_program *program = mw_program_create(graph, options, &err);
    if (program == NULL) {
        check_refusal(&err, "compile");
        return NULL;
    }
    size_t again;
    unsigned char *first = run_once(program, bytes, out_size);
    unsigned char *second = run_once(program, bytes, &again);
    const bool fresh = strstr(mw_program_get_info(program).mil, "random_") != NULL; /* numbers of its own at each run */
    if ((first == NULL) != (second == NULL) || (first != NULL && !fresh && memcmp(first, second, again) != 0))
        defect("two runs differ", mw_program_get_info(program).mil);
    free(second);
    mw_program_destroy(program);
    return first;
}

/* The gradient of conv by its weight adds up in another order when it runs as one step (engine/README.md). */
static bool may_round_otherwise(const mw_graph *graph)
{
    char *text = mw_graph_print_mil(graph, NULL, NULL);
    const bool has_conv = text == NULL || strstr(text, "conv(") != NULL;
    mw_string_free(text);
    return has_conv;
}

/* Compiles and runs twice: also without fused regions the results must be the same. */
static void run_on(const mw_graph *graph, mw_device device, source bytes)
{
    mw_compile_options options = mw_compile_defaults();
    size_t sizes[2] = {0};
    options.device = device;
    options.allocator = &allocator;
    options.provider = MW_PROVIDER_ENGINE;
    options.threads = 1 + take(&bytes) % 3;
    unsigned char *fused = compile_and_run(graph, &options, true, bytes, &sizes[0]);
    unsigned char *apart = compile_and_run(graph, &options, false, bytes, &sizes[1]);
    const bool differ = fused != NULL && apart != NULL && memcmp(fused, apart, sizes[0]) != 0;
    if ((fused == NULL) != (apart == NULL) || (differ && !may_round_otherwise(graph)))
        defect("fused regions give other results", device == MW_DEVICE_CPU ? "CPU" : "ANE");
    free(fused);
    free(apart);
}

static void use(maker *m, mw_tensor *y)
{
    if (getenv("MW_TEST_SHOW") != NULL) {
        char *text = mw_graph_print_mil(m->graph, NULL, NULL);
        fprintf(stderr, "%s\n", text != NULL ? text : "");
        mw_string_free(text);
    }
    check_text(m->graph);
    const source rest = *m->bytes;
    if (mw_output(y, "y") == NULL)
        return;
    differentiate(m, y);
    mw_error err = {0};
    if (mw_graph_check(m->graph, &err) != MW_OK) {
        check_refusal(&err, "gradient");
        return;
    }
    check_text(m->graph);
    if (!is_small(m->graph))
        return;
    run_on(m->graph, MW_DEVICE_CPU, rest);
    run_on(m->graph, MW_DEVICE_ANE, rest);
}

/* ---- the input ---- */

static size_t case_count(void)
{
    size_t count = 0;
    while (op_case_at(count) != NULL)
        count++;
    return count;
}

/* A case of the operation named, or if there is none any case. */
static const op_case *choose_case(source *bytes)
{
    const uint8_t *end = memchr(bytes->data + bytes->at, '\n', bytes->size - bytes->at);
    const size_t length = end != NULL ? (size_t)(end - bytes->data) - bytes->at : 0;
    const op_case *c, *named[256];
    size_t count = 0;
    for (size_t i = 0; end != NULL && count < 256 && (c = op_case_at(i)) != NULL; i++)
        if (strlen(c->name) == length && memcmp(c->name, bytes->data + bytes->at, length) == 0)
            named[count++] = c;
    if (count > 0) {
        bytes->at += length + 1;
        return named[take(bytes) % count];
    }
    const size_t high = take(bytes);
    return op_case_at((high << 8 | take(bytes)) % case_count());
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const mw_opset opsets[] = {MW_IOS18, MW_IOS15, MW_IOS16, MW_IOS17, MW_IOS26};
    source bytes = {.data = data, .size = size};
    const op_case *c = size > 0 ? choose_case(&bytes) : op_case_at(0);
    const uint8_t first = take(&bytes);
    mw_graph_options options = mw_graph_defaults();
    options.allocator = &allocator;
    options.opset = first < 128 ? MW_IOS18 : opsets[first % 5];
    maker m = {.bytes = &bytes, .graph = mw_graph_create(&options, NULL)};
    mw_tensor *y = make_case(&m, c);
    for (int more = 1; y != NULL && more < CASES_MAX && take(&bytes) > 128; more++)
        y = make_case(&m, choose_case(&bytes));
    mw_error err = {0};
    if (mw_graph_check(m.graph, &err) != MW_OK)
        check_refusal(&err, c->name);
    else if (y != NULL)
        use(&m, y);
    mw_graph_destroy(m.graph);
    return 0;
}
