/* Random small programs with random state: the program with outputs on the memory of inputs, run by the team, must give
 * the bytes of the same program with a buffer for every value (so that nothing is placed, delayed or done in place),
 * without steps that are joined, run by one thread, with the state copied by the host after each step. A failing
 * program is shrunk and printed with its seed; MW_TEST_SEED and MW_TEST_PROGRAMS choose others; MW_NIGHTLY=1 checks
 * thousands. A third are fp16, half of these as on the ANE. */
#include "base/number/random.h"
#include "engine/run.h"
#include "support/check.h"
#include "support/setting.h"

#include <stdarg.h>
#include <stdlib.h>

enum {
    OPS_MAX = 16,
    INPUTS_MAX = 5,
    VALUES_MAX = OPS_MAX + INPUTS_MAX,
    TEXT_MAX = 16384,
    STEPS = 3,
    PARTITIONS_MAX = 4
};

typedef enum op_kind {
    ADD,
    SUB,
    MUL,
    MAXIMUM,
    CHOOSE,
    TANH,
    RELU,
    HALF,
    SOFTMAX,
    FILL, /* a constant of the shape of a */
    IDENTITY,
    OTHER_TYPE, /* computed in the other float type */
    TRANSPOSE,
    RESHAPE,
    REDUCE_ROWS,
    REDUCE_COLUMNS,
    MATMUL,
    MATMUL_T,
    CONCAT,
    SLICE,
    OP_KINDS
} op_kind;

typedef struct value {
    int rows, columns;
} value;

typedef struct op {
    op_kind kind;
    int a, b; /* values */
} op;

/* Values 0 .. input_count - 1 are inputs, then one per operation. */
typedef struct program {
    const char *dtype;
    size_t element;
    uint64_t mask;
    int batch; /* matrices in each value; 0: it is one matrix, of rank 2 */
    int input_count, op_count;
    value values[VALUES_MAX];
    op ops[OPS_MAX];
    bool output[VALUES_MAX];
    int state[VALUES_MAX]; /* the input whose memory the output takes, or -1 */
} program;

/* The ways of joining steps, of which each program leaves one out; a name that is empty leaves out none. */
enum { OPTIONAL, REQUIRED };
static const struct {
    const char *name;
    int need;
} ways[] = {
    {"", OPTIONAL},
#define MW_PASS_JOIN(id, need, ...)       {#id, need},
#define MW_PASS_PART(id, pass, need, ...) {#id, need},
#include "passes/pipeline.def"
};

static const char *left_out = "";

/* ---- making ---- */

static int argmax(mw__random *random, int count) { return (int)mw__random_below(random, (uint64_t)count); }

static bool is_unary(op_kind kind) { return kind >= TANH && kind <= REDUCE_COLUMNS; }

/* The shape of the result; false if the operands do not fit. */
static bool result_of(op_kind kind, value a, value b, value *out)
{
    switch (kind) {
    case TRANSPOSE:
    case RESHAPE:
        *out = (value){a.columns, a.rows};
        return true;
    case REDUCE_ROWS:
        *out = (value){1, a.columns};
        return true;
    case REDUCE_COLUMNS:
        *out = (value){a.rows, 1};
        return true;
    case MATMUL:
        *out = (value){a.rows, b.columns};
        return a.columns == b.rows;
    case MATMUL_T:
        *out = (value){a.rows, b.rows};
        return a.columns == b.columns;
    case CONCAT:
        *out = (value){a.rows + b.rows, a.columns};
        return a.columns == b.columns && a.rows + b.rows <= 700;
    case SLICE:
        *out = (value){a.rows - a.rows / 2, a.columns};
        return a.rows > 1;
    default:
        *out = a;
        return is_unary(kind) || ((b.rows == a.rows || b.rows == 1) && (b.columns == a.columns || b.columns == 1));
    }
}

static void add_op(program *p, mw__random *random)
{
    const int count = p->input_count + p->op_count;
    for (int attempt = 0; attempt < 200; attempt++) {
        const op new_op = {
            .kind = (op_kind)argmax(random, OP_KINDS), .a = argmax(random, count), .b = argmax(random, count)};
        if (!result_of(new_op.kind, p->values[new_op.a], p->values[new_op.b], &p->values[count]))
            continue;
        p->ops[p->op_count++] = new_op;
        return;
    }
}

static void choose_outputs(program *p, mw__random *random)
{
    const int count = p->input_count + p->op_count;
    bool taken[INPUTS_MAX] = {false};
    for (int v = 0; v < count; v++) {
        p->state[v] = -1;
        p->output[v] = v < p->input_count ? argmax(random, 12) == 0 : argmax(random, 3) == 0 || v == count - 1;
        const int input = argmax(random, p->input_count);
        if (!p->output[v] || taken[input] || argmax(random, 4) == 0 ||
            p->values[input].rows * p->values[input].columns != p->values[v].rows * p->values[v].columns)
            continue;
        p->state[v] = input;
        taken[input] = true;
    }
}

static program make_program(mw__random *random)
{
    static const int sizes[] = {1, 2, 3, 8, 16, 17, 40, 64, 65}, batches[] = {0, 0, 2, 3, 4, 6};
    static const int wide[] = {1, 63, 130, 257, 601}; /* whose rows are more than a block */
    program p = {.dtype = "fp32", .element = 4, .mask = E5RT_CPU};
    if (argmax(random, 3) == 0)
        p = (program){.dtype = "fp16", .element = 2, .mask = argmax(random, 2) == 0 ? E5RT_ANE : E5RT_CPU};
    const bool large = argmax(random, 6) == 0;
    const int extents[2] = {large ? wide[argmax(random, 5)] : sizes[argmax(random, 9)],
                            large ? wide[argmax(random, 5)] : sizes[argmax(random, 9)]};
    p.batch = batches[argmax(random, 6)];
    p.input_count = 1 + argmax(random, INPUTS_MAX);
    for (int i = 0; i < p.input_count; i++)
        p.values[i] = (value){extents[argmax(random, 2)], extents[argmax(random, 2)]};
    const int ops = 1 + argmax(random, large ? OPS_MAX / 2 : OPS_MAX);
    for (int i = 0; i < ops; i++)
        add_op(&p, random);
    choose_outputs(&p, random);
    return p;
}

/* ---- text ---- */

typedef struct text {
    char data[TEXT_MAX];
    size_t size;
} text;

static void put(text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(text *t, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(t->data + t->size, sizeof t->data - t->size, format, arguments);
    va_end(arguments);
    t->size += length > 0 && (size_t)length < sizeof t->data - t->size ? (size_t)length : 0;
}

/* "2, " before the extents of a matrix. */
static const char *batch_of(const program *p)
{
    static const char *const shown[] = {"", "1, ", "2, ", "3, ", "4, ", "5, ", "6, "};
    return shown[p->batch];
}

static void put_op(text *t, const program *p, int index)
{
    static const char *const names[OP_KINDS] = {"add",         "sub",    "mul",       "maximum", "select",
                                                "tanh",        "relu",   "mul",       "softmax", "fill",
                                                "identity",    "cast",   "transpose", "reshape", "reduce_sum",
                                                "reduce_mean", "matmul", "matmul",    "concat",  "slice_by_size"};
    const op *o = &p->ops[index];
    const value r = p->values[p->input_count + index];
    const char *batch = batch_of(p);
    const int rank = p->batch > 0 ? 3 : 2;
    if (o->kind == CHOOSE)
        put(t, "tensor<bool, [%s%d, %d]> c%d = less_equal(x = v%d, y = v%d);\n", batch, r.rows, r.columns, index, o->b,
            o->a);
    if (o->kind == OTHER_TYPE) {
        const char *other = p->element == 4 ? "fp16" : "fp32";
        put(t, "tensor<%s, [%s%d, %d]> c%d = cast(dtype = string(\"%s\"), x = v%d);\n", other, batch, r.rows, r.columns,
            index, other, o->a);
        put(t, "tensor<%s, [%s%d, %d]> d%d = tanh(x = c%d);\n", other, batch, r.rows, r.columns, index, index);
    }
    put(t, "tensor<%s, [%s%d, %d]> v%d = %s(", p->dtype, batch, r.rows, r.columns, p->input_count + index,
        names[o->kind]);
    if (o->kind == CHOOSE)
        put(t, "a = v%d, b = v%d, cond = c%d", o->a, o->b, index);
    else if (o->kind == HALF)
        put(t, "x = v%d, y = %s(0.5)", o->a, p->dtype);
    else if (o->kind == FILL)
        put(t, "shape = tensor<int32, [%d]>([%s%d, %d]), value = %s(%g)", rank, batch, r.rows, r.columns, p->dtype,
            0.25 * (index % 5));
    else if (o->kind == OTHER_TYPE)
        put(t, "dtype = string(\"%s\"), x = d%d", p->dtype, index);
    else if (o->kind == SOFTMAX)
        put(t, "axis = int32(-1), x = v%d", o->a);
    else if (o->kind == TRANSPOSE)
        put(t, "perm = tensor<int32, [%d]>([%s]), x = v%d", rank, rank == 3 ? "0, 2, 1" : "1, 0", o->a);
    else if (o->kind == RESHAPE)
        put(t, "shape = tensor<int32, [%d]>([%s%d, %d]), x = v%d", rank, batch, r.rows, r.columns, o->a);
    else if (o->kind == REDUCE_ROWS || o->kind == REDUCE_COLUMNS)
        put(t, "axes = tensor<int32, [1]>([%d]), keep_dims = bool(true), x = v%d",
            rank - 2 + (o->kind == REDUCE_COLUMNS), o->a);
    else if (o->kind == MATMUL || o->kind == MATMUL_T)
        put(t, "transpose_x = bool(false), transpose_y = bool(%s), x = v%d, y = v%d",
            o->kind == MATMUL_T ? "true" : "false", o->a, o->b);
    else if (o->kind == CONCAT)
        put(t, "axis = int32(%d), interleave = bool(false), values = (v%d, v%d)", rank - 2, o->a, o->b);
    else if (o->kind == SLICE)
        put(t, "begin = tensor<int32, [%d]>([%s%d, 0]), size = tensor<int32, [%d]>([%s%d, %d]), x = v%d", rank,
            rank == 3 ? "0, " : "", p->values[o->a].rows / 2, rank, batch, r.rows, r.columns, o->a);
    else if (is_unary(o->kind))
        put(t, "x = v%d", o->a);
    else
        put(t, "x = v%d, y = v%d", o->a, o->b);
    put(t, ");\n");
}

/* `all`: every value of an operation is an output. */
static bool is_output(const program *p, int v, bool all) { return p->output[v] || (all && v >= p->input_count); }

static void put_program(text *t, const program *p, bool all)
{
    put(t, "program(1.3)\n[buildInfo = dict<string, string>({{\"coremlc-version\", \"1\"}})]\n{\nfunc main<ios18>(");
    for (int i = 0; i < p->input_count; i++)
        put(t, "%stensor<%s, [%s%d, %d]> v%d", i > 0 ? ", " : "", p->dtype, batch_of(p), p->values[i].rows,
            p->values[i].columns, i);
    put(t, ") {\n");
    for (int i = 0; i < p->op_count; i++)
        put_op(t, p, i);
    put(t, "} -> (");
    for (int v = 0, count = 0; v < p->input_count + p->op_count; v++)
        if (is_output(p, v, all))
            put(t, "%sv%d", count++ > 0 ? ", " : "", v);
    put(t, ");\n}\n");
}

/* ---- running ---- */

typedef struct memory {
    void *inputs[INPUTS_MAX], *outputs[VALUES_MAX];
} memory;

static size_t size_of(const program *p, int v)
{
    const size_t matrices = p->batch > 0 ? (size_t)p->batch : 1;
    return matrices * (size_t)p->values[v].rows * (size_t)p->values[v].columns * p->element;
}

static void fill_inputs(const program *p, const memory *m, uint64_t seed)
{
    for (int i = 0; i < p->input_count; i++) {
        mw__random random = {.seed = seed, .stream = (uint64_t)i + 1};
        for (size_t e = 0; e < size_of(p, i) / p->element; e++) {
            const int step = argmax(&random, 33) - 16; /* sixteenths from -1 to 1, exact in both types */
            const float x = (float)step / 16.0F;
            uint32_t bits;
            memcpy(&bits, &x, 4);
            const uint16_t half =
                (uint16_t)(step == 0
                               ? 0
                               : (bits >> 16 & 0x8000) | (((bits >> 23 & 0xff) - 112) << 10 | (bits >> 13 & 0x3ff)));
            if (p->element == 4)
                memcpy((char *)m->inputs[i] + 4 * e, &x, 4);
            else
                memcpy((char *)m->inputs[i] + 2 * e, &half, 2);
        }
    }
}

static bool open_program(run_program *r, const program *p, bool separate, uint64_t threads, memory *m)
{
    text *t = calloc(1, sizeof *t);
    put_program(t, p, separate);
    run_set("MW_ENGINE_WAKE", separate ? "1000000000" : "0");
    run_set("MW_ENGINE_FUSE", separate ? "0" : "1");
    run_set("MW_PASSES_OFF", separate ? "" : left_out);
    bool good = run_open(r, t->data, p->mask, threads);
    free(t);
    char name[16];
    for (int v = 0; good && v < p->input_count; v++) {
        snprintf(name, sizeof name, "v%d", v);
        good = (m->inputs[v] = run_bind(r, false, name, size_of(p, v))) != NULL;
    }
    for (int v = 0; good && v < p->input_count + p->op_count; v++) {
        char input[16];
        snprintf(name, sizeof name, "v%d", v);
        snprintf(input, sizeof input, "v%d", p->state[v]);
        if (is_output(p, v, separate))
            m->outputs[v] =
                !separate && p->state[v] >= 0 ? run_share(r, name, input) : run_bind(r, true, name, size_of(p, v));
        good = !is_output(p, v, separate) || m->outputs[v] != NULL;
    }
    return good && run_encode(r);
}

static bool same_bytes(const program *p, const memory *a, const memory *b)
{
    for (int i = 0; i < p->input_count; i++)
        if (memcmp(a->inputs[i], b->inputs[i], size_of(p, i)) != 0)
            return false;
    for (int v = 0; v < p->input_count + p->op_count; v++)
        if (p->output[v] && memcmp(a->outputs[v], b->outputs[v], size_of(p, v)) != 0)
            return false;
    return true;
}

/* True if both ways agree; an error is noted and counts as disagreement. */
static bool agrees(const program *p, uint64_t threads, uint64_t seed)
{
    run_program separate = {0}, aliased = {0};
    memory a = {0}, b = {0};
    bool good = open_program(&separate, p, true, threads, &a) && open_program(&aliased, p, false, threads, &b);
    if (good) {
        good = run_check_plan(&separate) && run_check_plan(&aliased);
        fill_inputs(p, &a, seed);
        fill_inputs(p, &b, seed);
    }
    for (int step = 0; good && step < STEPS; step++) {
        good = run_execute(&separate) && run_execute(&aliased);
        for (int v = 0; v < p->input_count + p->op_count; v++)
            if (p->output[v] && p->state[v] >= 0)
                memcpy(a.inputs[p->state[v]], a.outputs[v], size_of(p, v));
        good = good && same_bytes(p, &a, &b);
    }
    run_close(&separate);
    run_close(&aliased);
    return good;
}

/* ---- shrinking: fewer states, outputs and operations, as long as it fails ---- */

static bool is_used(const program *p, int v)
{
    bool used = p->output[v];
    for (int i = 0; i < p->op_count; i++)
        used = used || p->ops[i].a == v || (p->ops[i].b == v && !is_unary(p->ops[i].kind) && p->ops[i].kind != SLICE);
    return used;
}

/* Uses of the dropped value go to an earlier one of its shape. */
static bool drop_op(program *p, int index)
{
    const int dropped = p->input_count + index;
    int other = 0;
    while (other < dropped &&
           (p->values[other].rows != p->values[dropped].rows || p->values[other].columns != p->values[dropped].columns))
        other++;
    if (other == dropped && is_used(p, dropped))
        return false;
    other = other == dropped ? 0 : other;
    for (int i = index; i + 1 < p->op_count; i++) {
        p->ops[i] = p->ops[i + 1];
        int *operands[] = {&p->ops[i].a, &p->ops[i].b};
        for (int k = 0; k < 2; k++)
            *operands[k] = *operands[k] == dropped ? other : *operands[k] - (*operands[k] > dropped);
    }
    for (int v = dropped; v + 1 < p->input_count + p->op_count; v++) {
        p->values[v] = p->values[v + 1];
        p->output[v] = p->output[v + 1];
        p->state[v] = p->state[v + 1];
    }
    p->op_count--;
    return true;
}

static bool shrink_once(program *p, uint64_t threads, uint64_t seed)
{
    for (int change = 0; change < 2 * VALUES_MAX + OPS_MAX; change++) {
        program smaller = *p;
        const int v = change % VALUES_MAX;
        if (change < VALUES_MAX) {
            if (v >= p->input_count + p->op_count || p->state[v] < 0)
                continue;
            smaller.state[v] = -1;
        } else if (change < 2 * VALUES_MAX) {
            if (v >= p->input_count + p->op_count || !p->output[v])
                continue;
            smaller.output[v] = false;
        } else if (change - 2 * VALUES_MAX >= p->op_count || !drop_op(&smaller, change - 2 * VALUES_MAX)) {
            continue;
        }
        bool any = false;
        for (int i = 0; i < smaller.input_count + smaller.op_count; i++)
            any = any || smaller.output[i];
        if (any && !agrees(&smaller, threads, seed)) {
            *p = smaller;
            return true;
        }
    }
    return false;
}

static void report(program p, uint64_t threads, uint64_t seed)
{
    for (int round = 0; round < 100 && shrink_once(&p, threads, seed); round++) {
    }
    text *t = calloc(1, sizeof *t);
    put_program(t, &p, false);
    for (int v = 0; v < p.input_count + p.op_count; v++)
        if (p.output[v] && p.state[v] >= 0)
            put(t, "output v%d on input v%d\n", v, p.state[v]);
    check_note(false, __FILE__, __LINE__, "seed %llu, %llu threads, mask %llu, without \"%s\":\n%s",
               (unsigned long long)seed, (unsigned long long)threads, (unsigned long long)p.mask, left_out, t->data);
    free(t);
}

/* What a chip does not round depends on which values are outputs, and those differ here. */
static const char *const profiles[] = {"h13,-wide_chains", "h14,-wide_chains", "h16,-wide_chains", "h17,-wide_chains",
                                       "ieee"};

static void test_aliased_programs_equal_separate_ones(void)
{
    const uint64_t first = number_from("MW_TEST_SEED", 1);
    const uint64_t count = number_from("MW_TEST_PROGRAMS", getenv("MW_NIGHTLY") != NULL ? 20000 : 400);
    printf("seeds %llu to %llu\n", (unsigned long long)first, (unsigned long long)(first + count - 1));
    for (uint64_t seed = first; seed < first + count; seed++) {
        mw__random random = {.seed = seed};
        const program p = make_program(&random);
        const uint64_t threads = 1 + seed % PARTITIONS_MAX;
        const size_t way = (size_t)(seed / 2 % (2 * sizeof ways / sizeof *ways)); /* half leave out none */
        left_out = way < sizeof ways / sizeof *ways && ways[way].need == OPTIONAL ? ways[way].name : "";
        run_set("MW_ENGINE_PROFILE", profiles[seed % (sizeof profiles / sizeof *profiles)]);
        if (!agrees(&p, threads, seed)) {
            report(p, threads, seed);
            return;
        }
    }
}

int main(void)
{
    RUN(test_aliased_programs_equal_separate_ones);
    return check_finish();
}
