/* A program for another number of examples: for every operation of the table, what is made of it gives each example
 * what the source gives it, by the double-precision oracle, or is refused by name. */
#include "graph/transform/batch/rebatch.h"
#include "support/cases/op_cases.h"
#include "support/check.h"
#include "support/failing.h"

#include <millwright/millwright.h>
#include <stdlib.h>
#include <string.h>

enum { TIMES = 3 };

/* A case as a program of its inputs and its result, and the same for TIMES as many examples. */
typedef struct trial {
    op_instance instance;
    mw_graph *more;
    oracle few, many;
} trial;

/* The examples of the source TIMES over, along the first axis. */
static void feed_more(trial *t)
{
    for (size_t i = 0; i < t->instance.count; i++) {
        const mw_tensor *in = t->instance.in[i], *out = mw_graph_find(t->more, mw_tensor_name(in));
        const size_t count = (size_t)oracle_count(in);
        double *data = malloc((TIMES * count + 1) * sizeof *data);
        for (size_t k = 0; k < TIMES * count; k++)
            data[k] = t->instance.data[i][k % count];
        if (out != NULL)
            oracle_set(&t->many, out, data);
        free(data);
    }
}

/* Index i of the axis with the rows belongs to example (i / inner) % batch: the source's for the copy's. */
static int64_t source_index(mw_shape shape, mw_shape more, mw__batch_rows rows, int64_t batch, int64_t index)
{
    int64_t at[MW_RANK_MAX], flat = 0;
    oracle_unravel(more, index, at);
    if (rows.kind == MW__BATCH_ROWS) {
        const int64_t run = at[rows.axis] / (rows.inner * batch * TIMES), row = at[rows.axis] % rows.inner;
        const int64_t example = at[rows.axis] / rows.inner % (batch * TIMES) % batch;
        at[rows.axis] = (run * batch + example) * rows.inner + row;
    }
    for (int i = 0; i < shape.rank; i++)
        flat = flat * shape.dim[i] + at[i];
    return flat;
}

static void check_result(trial *t, const op_case *c)
{
    const mw__function *main = mw__graph_main(t->instance.graph);
    const mw_tensor *few = main->body->outputs[0], *many = mw__graph_main(t->more)->body->outputs[0];
    const int64_t batch = mw__batch_of(main);
    mw_error err = {0};
    mw__arena arena;
    mw__arena_init(&arena, t->instance.graph->allocator);
    const mw__batch_rows *table = mw__batch_find(&arena, main, batch, &err);
    const double *a = oracle_get(&t->few, few), *b = oracle_get(&t->many, many);
    for (int64_t i = 0; table != NULL && a != NULL && b != NULL && i < oracle_count(many); i++) {
        const int64_t k = source_index(mw_tensor_shape(few), mw_tensor_shape(many), table[few->id], batch, i);
        if (memcmp(&a[k], &b[i], sizeof *a) != 0 && !(isnan(a[k]) && isnan(b[i]))) {
            check_note(false, __FILE__, __LINE__, "%s (%s): element %lld is %.17g, in the source %.17g", c->name,
                       c->detail, (long long)i, b[i], a[k]);
            break;
        }
    }
    CHECK(a != NULL && b != NULL);
    mw__arena_deinit(&arena);
}

/* True if there is such a program. */
static bool try_case(const op_case *c)
{
    trial t = {0};
    mw_error err = {0};
    if (!op_instance_init(&t.instance, c, MW_F32, 7))
        return false;
    mw_output(t.instance.y, "result");
    const int64_t batch = mw__batch_of(mw__graph_main(t.instance.graph));
    t.more = batch > 0 ? mw_graph_rebatch(t.instance.graph, TIMES * batch, &err) : NULL;
    const bool made = t.more != NULL;
    if (made) {
        oracle_init(&t.few, t.instance.graph);
        oracle_init(&t.many, t.more);
        op_instance_feed(&t.instance, &t.few);
        feed_more(&t);
        if (CHECK(oracle_run(&t.few)) && CHECK(oracle_run(&t.many)))
            check_result(&t, c);
        oracle_deinit(&t.many);
        oracle_deinit(&t.few);
    } else if (batch > 0) {
        check_note(err.status == MW_ERROR_UNSUPPORTED && strlen(err.message) > 20, __FILE__, __LINE__, "%s (%s): %d %s",
                   c->name, c->detail, (int)err.status, err.message);
        if (getenv("MW_TEST_SHOW") != NULL)
            printf("%s (%s): %s\n", c->name, c->detail, err.message);
    }
    mw_graph_destroy(t.more);
    op_instance_deinit(&t.instance);
    return made;
}

static void test_every_operation(void)
{
    size_t made = 0, rows = 0;
    const op_case *c;
    const char *last = "", *counted = "";
    for (size_t i = 0; (c = op_case_at(i)) != NULL; i++) {
        const bool good = try_case(c);
        made += good;
        rows += good && strcmp(counted, c->name) != 0;
        counted = good ? c->name : counted;
        last = c->name;
    }
    CHECK(last[0] != '\0');
    check_note(rows >= 100 && made >= 300, __FILE__, __LINE__, "%zu cases of %zu rows have another batch", made, rows);
}

/* ---- programs ---- */

#define HEAD "program(1.3){func main<ios18>("

static mw_graph *parse(const char *text, mw_error *err)
{
    return mw_graph_parse_mil(text, strlen(text), NULL, NULL, err);
}

static void check_shape(const mw_graph *graph, const char *name, mw_shape wanted, int line)
{
    const mw_tensor *value = mw_graph_find(graph, name);
    const mw_shape shape = value != NULL ? mw_tensor_shape(value) : mw_shape_scalar();
    check_note(value != NULL && mw_shape_equal(shape, wanted), __FILE__, line, "%s has rank %d, first extent %lld",
               name, shape.rank, (long long)shape.dim[0]);
}

/* Written shapes, bounds of slices, a constant of zeros for each example, rows behind a transpose. */
static const char written[] =
    HEAD "tensor<fp32, [4, 6]> x){"
         "tensor<fp32, [4, 2, 3]> a = reshape(x = x, shape = tensor<int32, [3]>([4, 2, 3]))[name = string(\"a\")];"
         "tensor<fp32, [4, 1, 3]> b = slice_by_index(begin = tensor<int32, [3]>([0, 1, 0]), end = "
         "tensor<int32, [3]>([4, 2, 3]), x = a)[name = string(\"b\")];"
         "tensor<fp32, [4, 1, 3]> zeros = const()[val = tensor<fp32, [4, 1, 3]>([[[0, 0, 0]], [[0, 0, 0]], "
         "[[0, 0, 0]], [[0, 0, 0]]])];"
         "tensor<fp32, [4, 2, 3]> c = concat(axis = int32(1), interleave = bool(false), values = (zeros, b))"
         "[name = string(\"c\")];"
         "tensor<fp32, [2, 4, 3]> d = transpose(perm = tensor<int32, [3]>([1, 0, 2]), x = c)[name = string(\"d\")];"
         "tensor<fp32, [8, 3]> e = reshape(shape = tensor<int32, [2]>([8, 3]), x = d)[name = string(\"e\")];} -> (e);}";

static void test_what_is_written_out_follows(void)
{
    mw_error err = {0};
    mw_graph *graph = parse(written, &err);
    mw_graph *one = mw_graph_rebatch(graph, 1, &err), *nine = mw_graph_rebatch(one, 9, &err);
    CHECK_OK(err);
    check_shape(one, "x", MW_SHAPE(1, 6), __LINE__);
    check_shape(one, "e", MW_SHAPE(2, 3), __LINE__);
    check_shape(nine, "c", MW_SHAPE(9, 2, 3), __LINE__);
    check_shape(nine, "d", MW_SHAPE(2, 9, 3), __LINE__);
    check_shape(nine, "e", MW_SHAPE(18, 3), __LINE__);
    mw_graph_destroy(nine);
    mw_graph_destroy(one);
    mw_graph_destroy(graph);
}

static void check_refused(const char *text, const char *why, int line)
{
    mw_error err = {0};
    mw_graph *graph = parse(text, &err), *other = mw_graph_rebatch(graph, 5, &err);
    check_note(other == NULL && err.status != MW_OK && strstr(err.message, why) != NULL, __FILE__, line,
               "%d \"%s\", not with \"%s\"", (int)err.status, err.message, why);
    mw_graph_destroy(other);
    mw_graph_destroy(graph);
}

static void test_refusals_name_the_operation(void)
{
    check_refused(HEAD "tensor<fp32, [4, 6]> x){tensor<fp32, [6]> y = reduce_mean(axes = tensor<int32, [1]>([0]), "
                       "keep_dims = bool(false), x = x)[name = string(\"y\")];} -> (y);}",
                  "reduce_mean \"y\"", __LINE__);
    check_refused(HEAD "tensor<fp32, [2, 1]> x){tensor<fp32, [2, 1]> w = const()[val = tensor<fp32, [2, 1]>([[1], "
                       "[2]])];tensor<fp32, [2, 1]> y = add(x = x, y = w)[name = string(\"y\")];} -> (y);}",
                  "values of its own", __LINE__);
    check_refused(HEAD "tensor<fp32, [4, 6]> x, tensor<fp32, []> s){tensor<fp32, [4, 6]> y = mul(x = x, y = s);} -> "
                       "(y);}",
                  "no first extent in common", __LINE__);
    check_refused(HEAD "tensor<fp32, [?, 6]> x){tensor<fp32, [?, 6]> y = relu(x = x);} -> (y);}",
                  "no first extent in common", __LINE__);
    mw_error err = {0};
    mw_graph *graph = parse(written, &err);
    CHECK(mw_graph_rebatch(graph, 0, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "at least 1");
    err = (mw_error){0};
    CHECK(mw_graph_rebatch(NULL, 1, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "NULL");
    err = (mw_error){0};
    CHECK(mw_graph_rebatch(graph, INT64_MAX / 2, &err) == NULL && err.status != MW_OK);
    mw_graph_destroy(graph);
}

/* ---- how many examples there are ---- */

#define LIKE    "ref_tensor = x, value = fp32(1))[name = string(\"o\")];"
#define ONES(n) "tensor<fp32, [" n ", 4]> o = fill_like(" LIKE
#define AXIS0   "axes = tensor<int32, [1]>([0]), keep_dims = bool(true), "
#define COUNT(of)                                                                                                      \
    "tensor<int32, [2]> s = shape(x = " of ")[name = string(\"s\")];"                                                  \
    "int32 n = slice_by_index(begin = tensor<int32, [1]>([0]), end = tensor<int32, [1]>([1]), squeeze_mask = "         \
    "tensor<bool, [1]>([true]), x = s)[name = string(\"n\")];"
#define FLOAT "fp32 c = cast(dtype = string(\"fp32\"), x = n)[name = string(\"c\")];"
#define TABLE                                                                                                          \
    "tensor<fp32, [9, 4]> table = const()[val = tensor<fp32, [9, 4]>(2)];int32 four = const()[val = int32(4)];"        \
    "tensor<int32, [1]> zero = const()[val = tensor<int32, [1]>([0])];"                                                \
    "tensor<int32, [1]> e = expand_dims(axes = tensor<int32, [1]>([0]), x = n)[name = string(\"e\")];"                 \
    "tensor<int32, [1]> w = expand_dims(axes = tensor<int32, [1]>([0]), x = four)[name = string(\"w\")];"

/* Each computes c, which x is multiplied by. */
static const struct {
    const char *what, *made, *more; /* once with 4 examples, once with 1 */
} counting[] = {
    {"a sum over what is as large as the batch",
     ONES("4") "tensor<fp32, [1, 4]> c = reduce_sum(" AXIS0 "x = o)[name = string(\"c\")];",
     ONES("1") "tensor<fp32, [1, 4]> c = reduce_sum(" AXIS0 "x = o)[name = string(\"c\")];"},
    {"the shape of what is as large as the batch", ONES("4") COUNT("o") FLOAT, ONES("1") COUNT("o") FLOAT},
    {"the shape of what several examples are in",
     "tensor<fp32, [4, 4]> o = softmax(axis = int32(0), x = x)[name = string(\"o\")];" COUNT("o") FLOAT,
     "tensor<fp32, [1, 4]> o = softmax(axis = int32(0), x = x)[name = string(\"o\")];" COUNT("o") FLOAT},
    {"a softmax over it", ONES("4") "tensor<fp32, [4, 4]> c = softmax(axis = int32(0), x = o)[name = string(\"c\")];",
     ONES("1") "tensor<fp32, [1, 4]> c = softmax(axis = int32(0), x = o)[name = string(\"c\")];"},
    {"a running sum",
     ONES("4") "tensor<fp32, [4, 4]> c = cumsum(axis = int32(0), exclusive = bool(false), reverse = bool(false), x = o)"
               "[name = string(\"c\")];",
     ONES("1") "tensor<fp32, [1, 4]> c = cumsum(axis = int32(0), exclusive = bool(false), reverse = bool(false), x = o)"
               "[name = string(\"c\")];"},
    {"a band",
     ONES("4") "tensor<fp32, [4, 4]> c = band_part(lower = int32(0), upper = int32(0), x = o)[name = "
               "string(\"c\")];",
     ONES("1") "tensor<fp32, [1, 4]> c = band_part(lower = int32(0), upper = int32(0), x = o)[name = string(\"c\")];"},
    {"a product",
     ONES(
         "4") "tensor<fp32, [4, 4]> c = matmul(transpose_x = bool(true), transpose_y = bool(false), x = o, y = o)[name "
              "= string(\"c\")];",
     NULL},
    {"a range",
     COUNT("x") "tensor<int32, [4]> r = range_1d(end = n, start = int32(0), step = int32(1))[name = string(\"r\")];"
                "tensor<int32, [4, 1]> q = expand_dims(axes = tensor<int32, [1]>([1]), x = r)[name = string(\"q\")];"
                "tensor<fp32, [4, 1]> c = cast(dtype = string(\"fp32\"), x = q)[name = string(\"c\")];",
     COUNT("x") "tensor<int32, [1]> r = range_1d(end = n, start = int32(0), step = int32(1))[name = string(\"r\")];"
                "tensor<int32, [1, 1]> q = expand_dims(axes = tensor<int32, [1]>([1]), x = r)[name = string(\"q\")];"
                "tensor<fp32, [1, 1]> c = cast(dtype = string(\"fp32\"), x = q)[name = string(\"c\")];"},
    {"as many rows of a table",
     COUNT("x") TABLE
     "tensor<int32, [2]> z = concat(axis = int32(0), interleave = bool(false), values = (e, w))[name = "
     "string(\"z\")];tensor<fp32, [4, 4]> c = slice_by_size(begin = tensor<int32, [2]>([1, 0]), size = "
     "z, x = table)[name = string(\"c\")];",
     NULL},
    {"the row of a table at that place",
     COUNT("x") TABLE
     "tensor<int32, [2]> z = concat(axis = int32(0), interleave = bool(false), values = (e, zero))[name "
     "= string(\"z\")];tensor<fp32, [1, 4]> c = slice_by_size(begin = z, size = tensor<int32, [2]>([1, "
     "4]), x = table)[name = string(\"c\")];",
     NULL},
};

static void check_multiplied(const char *made, int examples, bool accepted, const char *what)
{
    char text[3000];
    mw_error err = {0};
    snprintf(text, sizeof text,
             HEAD "tensor<fp32, [%d, 4]> x){%stensor<fp32, [%d, 4]> y = mul(x = x, y = c)[name = string(\"y\")];} -> "
                  "(y);}",
             examples, made, examples);
    mw_graph *graph = parse(text, &err);
    check_note(graph != NULL, __FILE__, __LINE__, "%s: %s", what, err.message);
    mw_graph *more = graph != NULL ? mw_graph_rebatch(graph, 3, &err) : NULL;
    check_note((more != NULL) == accepted && (accepted || strstr(err.message, "mul \"y\"") != NULL), __FILE__, __LINE__,
               "%s, %d: \"%s\"", what, examples, err.message);
    mw_graph_destroy(more);
    mw_graph_destroy(graph);
}

static void test_results_that_count_the_examples_are_refused(void)
{
    for (size_t i = 0; i < sizeof counting / sizeof *counting; i++) {
        check_multiplied(counting[i].made, 4, false, counting[i].what);
        if (counting[i].more != NULL)
            check_multiplied(counting[i].more, 1, false, counting[i].what);
    }
}

/* What is as large as the batch and the same for all of them. */
static void test_what_is_the_same_for_all_examples_follows(void)
{
    check_multiplied(ONES("4") "tensor<fp32, [4, 4]> c = tanh(x = o)[name = string(\"c\")];", 4, true, "tanh");
    check_multiplied(ONES("4") "tensor<fp32, [4, 4]> c = softmax(axis = int32(1), x = o)[name = string(\"c\")];", 4,
                     true, "softmax of each");
    check_multiplied(ONES("4") "tensor<fp32, [4, 1]> c = reduce_sum(axes = tensor<int32, [1]>([1]), keep_dims = "
                               "bool(true), x = o)[name = string(\"c\")];",
                     4, true, "sum of each");
    check_multiplied(ONES("4") "tensor<fp32, [4, 4]> v = const()[val = tensor<fp32, [4, 4]>([[1, 2, 3, 4], [5, 6, 7, "
                               "8], [1, 0, 0, 1], [2, 2, 2, 0]])];tensor<fp32, [4, 4]> c = matmul(transpose_x = "
                               "bool(false), transpose_y = bool(false), x = o, y = v)[name = string(\"c\")];",
                     4, true, "product");
    check_multiplied(ONES("1") "tensor<fp32, [1, 4]> v = const()[val = tensor<fp32, [1, 4]>([[1, 2, 3, 4]])];"
                               "tensor<fp32, [1, 4]> c = add(x = o, y = v)[name = string(\"c\")];",
                     1, true, "one row for all");
}

/* At one example several axes have one row, and the text says which of them is new. */
static void test_axes_that_are_added_or_removed_are_those_named(void)
{
    const struct {
        const char *body, *result; /* of x [1, 3] */
        mw_shape wanted;           /* for 3 examples */
    } cases[] = {
        {"tensor<fp32, [1, 1, 3]> y = expand_dims(axes = tensor<int32, [1]>([0]), x = x)[name = string(\"y\")];", "y",
         MW_SHAPE(1, 3, 3)},
        {"tensor<fp32, [1, 1, 3]> y = expand_dims(axes = tensor<int32, [1]>([1]), x = x)[name = string(\"y\")];", "y",
         MW_SHAPE(3, 1, 3)},
        {"tensor<fp32, [1, 1, 3]> e = expand_dims(axes = tensor<int32, [1]>([-3]), x = x)[name = string(\"e\")];"
         "tensor<fp32, [1, 1, 3]> y = softmax(axis = int32(0), x = e)[name = string(\"y\")];",
         "y", MW_SHAPE(1, 3, 3)},
        {"tensor<fp32, [1, 1, 3]> e = expand_dims(axes = tensor<int32, [1]>([0]), x = x)[name = string(\"e\")];"
         "tensor<fp32, [1, 3]> y = squeeze(axes = tensor<int32, [1]>([0]), x = e)[name = string(\"y\")];",
         "y", MW_SHAPE(3, 3)},
        {"tensor<fp32, [1, 1, 3]> e = expand_dims(axes = tensor<int32, [1]>([0]), x = x)[name = string(\"e\")];"
         "tensor<fp32, [3]> y = squeeze(x = e)[name = string(\"y\")];",
         "y", MW_SHAPE(9)},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1000];
        mw_error err = {0};
        snprintf(text, sizeof text, HEAD "tensor<fp32, [1, 3]> x){%s} -> (y);}", cases[i].body);
        mw_graph *graph = parse(text, &err), *more = mw_graph_rebatch(graph, 3, &err);
        if (CHECK_OK(err))
            check_shape(more, cases[i].result, cases[i].wanted, __LINE__);
        mw_graph_destroy(more);
        mw_graph_destroy(graph);
    }
    check_refused(HEAD "tensor<fp32, [1, 3]> x){tensor<fp32, [1, 1, 3]> e = expand_dims(axes = tensor<int32, "
                       "[1]>([0]), x = x)[name = string(\"e\")];tensor<fp32, [1, 1, 3]> y = softmax(axis = int32(1), x "
                       "= e)[name = string(\"y\")];} -> (y);}",
                  "softmax \"y\"", __LINE__);
}

static void test_every_allocation_may_fail(void)
{
    for (long n = 0;; n++) {
        failing_allocator failing = {.fail_at = -1};
        const mw_allocator allocator = failing_allocator_of(&failing);
        mw_graph_options options = mw_graph_defaults();
        mw_error err = {0};
        options.allocator = &allocator;
        mw_graph *graph = mw_graph_parse_mil(written, strlen(written), NULL, &options, &err);
        failing.requests = 0;
        failing.fail_at = n;
        mw_graph *other = mw_graph_rebatch(graph, 7, &err);
        CHECK_INT(other == NULL, failing.failed);
        CHECK_INT(err.status, failing.failed ? MW_ERROR_MEMORY : MW_OK);
        mw_graph_destroy(other);
        mw_graph_destroy(graph);
        CHECK_INT(failing.live, 0);
        if (!failing.failed)
            return;
    }
}

int main(void)
{
    RUN(test_every_operation);
    RUN(test_what_is_written_out_follows);
    RUN(test_refusals_name_the_operation);
    RUN(test_results_that_count_the_examples_are_refused);
    RUN(test_what_is_the_same_for_all_examples_follows);
    RUN(test_axes_that_are_added_or_removed_are_those_named);
    RUN(test_every_allocation_may_fail);
    return check_finish();
}
