/* A program for one shape of its inputs: what becomes known, what becomes a constant, what is refused by name. */
#include "graph/graph_check.h"

#include "graph/transform/extents/specialize.h"
#include "support/failing.h"
#include "support/op_count.h"

#include <stdio.h>

#define S                MW_SHAPE
#define Q                MW_DIM_UNKNOWN
#define HEAD             "program(1.3){func main<ios17>("
#define INT(name, value) "int32 " name " = const()[val = int32(" value ")];"
#define VECTOR(name, count, values)                                                                                    \
    "tensor<int32, [" count "]> " name " = const()[val = tensor<int32, [" count "]>([" values "])];"
#define NO "bool no = const()[val = bool(false)];"

static mw_graph *parse_with(const char *text, const mw_allocator *allocator, mw_error *err)
{
    mw_graph_options options = mw_graph_defaults();
    options.allocator = allocator;
    return mw_graph_parse_mil(text, strlen(text), NULL, &options, err);
}

static mw_graph *specialize(const char *text, const char *input, mw_shape shape, mw_error *err)
{
    const mw_input_shape wanted = {input, shape};
    mw_graph *graph = parse_with(text, NULL, err);
    CHECK_OK(*err);
    mw_graph *made = mw_graph_specialize(graph, &wanted, 1, err);
    mw_graph_destroy(graph);
    return made;
}

static void check_shape(const mw_graph *graph, const char *name, mw_shape wanted, int line)
{
    char a[160], b[160];
    const mw_tensor *value = mw_graph_find(graph, name);
    check_note(value != NULL && mw_shape_equal(mw_tensor_shape(value), wanted), __FILE__, line, "%s is %s, not %s",
               name, mw__shape_print(mw_tensor_shape(value), a, sizeof a), mw__shape_print(wanted, b, sizeof b));
}
#define CHECK_SHAPE(graph, name, ...) check_shape((graph), (name), (__VA_ARGS__), __LINE__)

static const mw__block *body_of(const mw_graph *graph) { return mw__graph_main(graph)->body; }

/* [b, t, 6] -> [b, t, 2, 3] -> [b, 2, t, 3], with b and t taken from the shape, as traced attention does. */
static const char heads[] =
    HEAD "tensor<fp32, [?, ?, 6]> x){" INT("zero", "0") INT("one", "1") INT("two", "2") INT("three", "3") NO
    "tensor<int32, [3]> s = shape(x = x);"
    "int32 b = gather(axis = zero, indices = zero, x = s);"
    "int32 t = gather(axis = zero, indices = one, x = s);"
    "tensor<int32, [4]> wanted = concat(axis = zero, interleave = no, values = (b, t, two, three));"
    "tensor<fp32, [?, ?, ?, ?]> r = reshape(shape = wanted, x = x);" VECTOR(
        "perm", "4", "0, 2, 1, 3") "tensor<fp32, [?, ?, ?, ?]> y = transpose(perm = perm, x = r);} -> (y);}";

static void test_extents_follow_through_shape_arithmetic(void)
{
    mw_error err = {0};
    mw_graph *g = specialize(heads, "x", S(5, 7, 6), &err);
    CHECK_OK(err);
    REQUIRE(g != NULL);
    CHECK_SHAPE(g, "r", S(5, 7, 2, 3));
    CHECK_SHAPE(g, "y", S(5, 2, 7, 3));
    const mw_tensor *wanted = mw_graph_find(g, "wanted");
    REQUIRE(wanted != NULL && wanted->payload != NULL);
    CHECK_INT(mw__payload_int(wanted->payload, 1), 7);
    CHECK_INT(mw_graph_verify(g, &err), MW_OK);
    CHECK_OK(err);
    mw_graph_destroy(g);
}

static void test_a_pruned_copy_has_no_arithmetic_left(void)
{
    mw_error err = {0};
    mw_graph *g = parse_with(heads, NULL, &err);
    const mw__given given = {.shape = S(5, 7, 6)};
    mw_graph *made = mw__specialize(NULL, mw__graph_main(g), &given, true, &err);
    CHECK_OK(err);
    REQUIRE(made != NULL);
    CHECK_INT(op_count(body_of(made), "shape"), 0);
    CHECK_INT(op_count(body_of(made), "gather"), 0);
    CHECK_INT(op_count(body_of(made), "concat"), 0);
    CHECK_INT(op_count(body_of(made), "const"), 2);
    CHECK(!mw__wants_specializing(mw__graph_main(made)));
    CHECK(mw__wants_specializing(mw__graph_main(g)));
    mw_graph_destroy(g);
    mw__graph_free(made);
}

static void test_a_result_that_becomes_a_constant_keeps_its_name(void)
{
    mw_error err = {0};
    mw_graph *g = specialize(HEAD "tensor<fp32, [?]> x){tensor<int32, [1]> n = shape(x = x);" INT(
                                 "two", "2") "tensor<int32, [1]> twice = mul(x = n, y = two);"
                                             "tensor<fp32, [?]> z = fill(shape = twice);} -> (n, twice, z);}",
                             "x", S(9), &err);
    CHECK_OK(err);
    REQUIRE(g != NULL);
    const mw__block *body = body_of(g);
    REQUIRE(body->output_count == 3);
    CHECK_STR(mw_tensor_name(body->outputs[0]), "n");
    CHECK_STR(mw_tensor_name(body->outputs[1]), "twice");
    CHECK(body->outputs[1]->payload == NULL);
    CHECK(mw_graph_find(g, "twice") == body->outputs[1]);
    CHECK_SHAPE(g, "z", S(18));
    mw_graph_destroy(g);
}

static void test_a_declared_extent_that_cannot_be_had_is_refused(void)
{
    mw_error err = {0};
    CHECK(specialize(HEAD "tensor<fp32, [?]> x, tensor<fp32, [4]> w){"
                          "tensor<fp32, [4]> y = relu(x = x);} -> (y);}",
                     "x", S(5), &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_SHAPE, "relu \"y\": its result is declared fp32 [4], the shapes of the inputs make it");
    mw_error_clear(&err);
    CHECK(specialize(HEAD "tensor<fp32, [?]> x, tensor<fp32, [4]> w){"
                          "tensor<fp32, [4]> y = add(x = x, y = w);} -> (y);}",
                     "x", S(5), &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_SHAPE, "shapes do not broadcast: x [5] and y");
}

static void test_a_product_of_extents_that_overflows_is_refused(void)
{
    mw_error err = {0};
    CHECK(specialize(HEAD "tensor<fp32, [?, 1]> x, tensor<fp32, [1, 4000000000]> w){"
                          "tensor<fp32, [?, 4000000000]> y = add(x = x, y = w);} -> (y);}",
                     "x", S(4000000000, 1), &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_SHAPE, "more than 2^63");
}

/* ---- what values decide ---- */

#define TILED                                                                                                          \
    HEAD "tensor<fp32, [2]> x, tensor<int32, [1]> n, tensor<fp32, [3]> w){"                                            \
         "tensor<fp32, [?]> y = tile(reps = n, x = x);"                                                                \
         "tensor<fp32, [?]> z = relu(x = y);} -> (z);}"

static void test_inputs_whose_values_decide_are_named(void)
{
    mw_error err = {0};
    mw_graph *g = parse_with(TILED, NULL, &err);
    mw__given given[3] = {{.shape = S(2)}, {.shape = S(1)}, {.shape = S(3)}};
    const mw_tensor *deciding[MW__DECIDING_MAX];
    size_t count = 9;
    CHECK_OK(err);
    mw_graph *open = mw__specialize(NULL, mw__graph_main(g), given, true, &err);
    CHECK_INT(mw__find_deciding(mw__graph_main(open), deciding, &count, &err), MW_OK);
    CHECK_OK(err);
    if (CHECK_INT(count, 1))
        CHECK_STR(mw_tensor_name(deciding[0]), "n");
    mw__graph_free(open);
    given[1].value = &(int32_t){4};
    mw_graph *closed = mw__specialize(NULL, mw__graph_main(g), given, true, &err);
    CHECK_INT(mw__find_deciding(mw__graph_main(closed), deciding, &count, &err), MW_OK);
    CHECK_OK(err);
    CHECK_INT(count, 0);
    CHECK_SHAPE(closed, "z", S(8));
    CHECK_INT(body_of(closed)->input_count, 2);
    mw__graph_free(closed);
    CHECK(mw_graph_specialize(g, NULL, 0, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, "the values of input \"n\" decide extents");
    mw_graph_destroy(g);
}

/* Programs that no shape makes known, and what is said. */
static const struct {
    const char *text, *part;
} refused[] = {
    {HEAD "tensor<fp32, [4]> x){tensor<int32, [?, 1]> y = non_zero(x = x);} -> (y);}",
     "non_zero \"y\": its result [?, 1] has extents that are not known before the program runs: they depend on the "
     "values "
     "of its operands"},
    {HEAD "tensor<fp32, [4]> x){" INT("zero",
                                      "0") "bool yes = const()[val = bool(true)];"
                                           "tensor<int32, [1]> n = reduce_argmax(axis = zero, keep_dims = yes, x = x);"
                                           "tensor<fp32, [?]> y = tile(reps = n, x = x);} -> (y);}",
     "tile \"y\": its result [?] has extents that are not known before the program runs: they depend on \"x\""},
    {HEAD "tensor<fp32, [4]> x, tensor<int32, [65]> many){" INT("zero", "0") NO
     "tensor<int32, [1]> at = const()[val = tensor<int32, [1]>([3])];"
     "tensor<int32, [1]> n = gather(axis = zero, indices = at, x = many);"
     "tensor<fp32, [?]> y = tile(reps = n, x = x);} -> (y);}",
     "they depend on \"many\""},
    {HEAD "tensor<fp32, [4]> x){tensor<int32, [2]> v = const()[val = tensor<int32, [2]>([3, 1])];" INT(
         "zero", "0") "bool no = const()[val = bool(false)];"
                      "tensor<int32, [2]> s = cumsum(axis = zero, exclusive = no, reverse = no, x = v);"
                      "tensor<int32, [1]> at = const()[val = tensor<int32, [1]>([1])];"
                      "tensor<int32, [1]> n = gather(axis = zero, indices = at, x = s);"
                      "tensor<fp32, [?]> y = tile(reps = n, x = x);} -> (y);}",
     "tile \"y\": its result [?] has extents that are not known before the program runs: they depend on \"n\""},
};

static void test_what_nothing_decides_is_refused_by_name(void)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        mw_error err = {0};
        mw_graph *g = parse_with(refused[i].text, NULL, &err);
        CHECK_OK(err);
        CHECK(mw_graph_specialize(g, NULL, 0, &err) == NULL);
        CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, refused[i].part);
        mw_graph_destroy(g);
    }
}

/* ---- the call ---- */

static void test_hostile_calls_are_refused(void)
{
    mw_error err = {0};
    mw_graph *g = parse_with(heads, NULL, &err);
    const mw_input_shape unknown[] = {{"q", S(1, 1, 6)}}, nameless[] = {{NULL, S(1, 1, 6)}},
                         twice[] = {{"x", S(1, 1, 6)}, {"x", S(2, 1, 6)}}, rank[] = {{"x", S(1, 6)}};
    CHECK(mw_graph_specialize(g, unknown, 1, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "\"q\" is no input that is fed; the first is \"x\"");
    mw_error_clear(&err);
    CHECK(mw_graph_specialize(g, nameless, 1, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "no input");
    mw_error_clear(&err);
    CHECK(mw_graph_specialize(g, twice, 2, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "twice");
    mw_error_clear(&err);
    CHECK(mw_graph_specialize(g, rank, 1, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_SHAPE, "cannot be [1, 6]; it admits [?, ?, 6]");
    mw_error_clear(&err);
    CHECK(mw_graph_specialize(g, NULL, 1, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "NULL");
    mw_error_clear(&err);
    CHECK(mw_graph_specialize(NULL, NULL, 0, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "NULL");
    mw_error_clear(&err);
    CHECK(mw_graph_specialize(g, NULL, 0, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_SHAPE, "input \"x\" is [?, ?, 6] and has no default: give its shape");
    CHECK(mw_graph_specialize(g, NULL, 0, NULL) == NULL);
    mw_graph_destroy(g);
}

static mw_status specialize_once(const mw_allocator *allocator, mw_error *err)
{
    const mw_input_shape wanted = {"x", S(2, 3, 6)};
    mw_graph *g = parse_with(heads, allocator, err);
    mw_graph *made = g != NULL ? mw_graph_specialize(g, &wanted, 1, err) : NULL;
    mw_graph_destroy(made);
    mw_graph_destroy(g);
    return err->status;
}

static void test_every_failing_allocation_is_survived(void)
{
    for (long n = 0;; n++) {
        mw_error err = {0};
        failing_allocator failing = {.fail_at = n};
        const mw_allocator allocator = failing_allocator_of(&failing);
        const mw_status status = specialize_once(&allocator, &err);
        CHECK_INT(failing.live, 0);
        if (status == MW_OK)
            break;
        if (!CHECK_INT(status, MW_ERROR_MEMORY) || !failing.failed)
            break;
    }
}

/* ---- blocks ---- */

/* Five times x + x, of rows that are not known. */
static const char looped[] = HEAD "tensor<fp32, [?, 3]> x){" INT(
    "zero", "0") "tensor<fp32, [?, 3]> y, int32 n = while_loop(loop_vars = (x, zero))"
                 "(tensor<fp32, [?, 3]> v, int32 i){" INT(
                     "five", "5") "bool c = less(x = i, y = five);} -> (c)"
                                  "(tensor<fp32, [?, 3]> v, int32 i){" INT(
                                      "one", "1") "tensor<fp32, [?, 3]> w = add(x = v, y = v);"
                                                  "int32 j = add(x = i, y = one);} -> (w, j);"
                                                  "tensor<fp32, [?, 3]> z = relu(x = y);} -> (z);}";

static void test_extents_follow_into_a_loop(void)
{
    mw_error err = {0};
    mw_graph *g = specialize(looped, "x", S(4, 3), &err);
    CHECK_OK(err);
    REQUIRE(g != NULL);
    CHECK_SHAPE(g, "y", S(4, 3));
    CHECK_SHAPE(g, "z", S(4, 3));
    CHECK_INT(mw_graph_verify(g, &err), MW_OK);
    CHECK_OK(err);
    char *text = mw_graph_print_mil(g, NULL, &err);
    CHECK(text != NULL && strchr(text, '?') == NULL);
    mw_string_free(text);
    mw_graph_destroy(g);
}

static void test_extents_follow_into_branches(void)
{
    static const char text[] = HEAD "tensor<fp32, [?]> x, bool p){"
                                    "tensor<fp32, [?]> y = cond(pred = p)"
                                    "{tensor<fp32, [?]> a = relu(x = x);} -> (a)"
                                    "{tensor<int32, [1]> s = shape(x = x); fp32 one = const()[val = fp32(1)];"
                                    " tensor<fp32, [?]> b = fill(shape = s, value = one);} -> (b);"
                                    "tensor<fp32, [?]> z = tanh(x = y);} -> (z);}";
    mw_error err = {0};
    mw_graph *g = specialize(text, "x", S(6), &err);
    CHECK_OK(err);
    CHECK_SHAPE(g, "z", S(6));
    mw_graph_destroy(g);
}

/* v grows in each trip, so that its extent is no number; beside it u is one, but nobody can tell. */
static void test_a_variable_that_grows_is_refused(void)
{
    static const char text[] = HEAD "tensor<fp32, [?]> x){" INT("zero", "0") NO
        "tensor<fp32, [?]> y, int32 n = while_loop(loop_vars = (x, zero))"
        "(tensor<fp32, [?]> v, int32 i){" INT(
            "five", "5") "bool c = less(x = i, y = five);} -> (c)"
                         "(tensor<fp32, [?]> v, int32 i){" INT(
                             "one", "1") "tensor<fp32, [?]> w = concat(axis = zero, interleave = no, values = (v, x));"
                                         "int32 j = add(x = i, y = one);} -> (w, j);"
                                         "tensor<fp32, [?]> z = relu(x = y);} -> (z);}";
    mw_error err = {0};
    CHECK(specialize(text, "x", S(4), &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, "extents that are not known before the program runs");
}

/* The elements of a list are as what is written to it. */
static void test_extents_of_list_elements_follow(void)
{
    static const char text[] = HEAD "tensor<fp32, [?, 3]> x){" INT("zero", "0") INT("two", "2") NO
        "string f = const()[val = string(\"fp32\")]; string any = const()[val = string(\"is0\")];" INT(
            "e", "3") "list<tensor<fp32, [?, 3]>, 2> ls = make_list(dtype = f, dynamic_length = no, elem_shape = (any, "
                      "e), init_length "
                      "= two);"
                      "list<tensor<fp32, [?, 3]>, 2> all, int32 n = while_loop(loop_vars = (ls, zero))"
                      "(list<tensor<fp32, [?, 3]>, 2> l, int32 i){" INT(
                          "last",
                          "2") "bool c = less(x = i, y = last);} -> (c)"
                               "(list<tensor<fp32, [?, 3]>, 2> l, int32 i){" INT(
                                   "one",
                                   "1") "list<tensor<fp32, [?, 3]>, 2> m = list_write(index = i, ls = l, value = x);"
                                        "int32 j = add(x = i, y = one);} -> (m, j);"
                                        "tensor<int32, [2]> both = const()[val = tensor<int32, [2]>([0, 1])];"
                                        "tensor<fp32, [2, ?, 3]> z = list_gather(indices = both, ls = all);} -> (z);}";
    mw_error err = {0};
    mw_graph *g = specialize(text, "x", S(4, 3), &err);
    CHECK_OK(err);
    CHECK_SHAPE(g, "z", S(2, 4, 3));
    mw_graph_destroy(g);
}

/* Each level is copied again as what it took for known does not hold, and with it all inside. */
static void test_nested_loops_end(void)
{
    enum { DEPTH = 40 };
    static char text[32768];
    char *at = text;
    at += sprintf(at, HEAD "tensor<fp32, [?]> v0){" INT("zero", "0") NO);
    for (int i = 1; i <= DEPTH; i++)
        at += sprintf(at,
                      "tensor<fp32, [?]> y%d = while_loop(loop_vars = (v%d))(tensor<fp32, [?]> u%d){bool c%d = "
                      "const()[val = bool(false)];} -> (c%d)(tensor<fp32, [?]> v%d){",
                      i, i - 1, i, i, i, i);
    for (int i = DEPTH; i > 0; i--)
        at +=
            sprintf(at, "tensor<fp32, [?]> g%d = concat(axis = zero, interleave = no, values = (v%d, v%d));} -> (g%d);",
                    i, i, i, i);
    sprintf(at, "} -> (y1);}");
    mw_error err = {0};
    CHECK(specialize(text, "v0", S(4), &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, "not known before the program runs");
}

/* ---- functions ---- */

static const char several[] = "program(1.3){func main<ios17>(tensor<fp32, [2]> x){tensor<fp32, [2]> y = relu(x = x);} "
                              "-> (y);func decode<ios18>(tensor<fp32, [?]> x)[FlexibleShapeInformation = "
                              "tuple<tuple<string, dict<string, tensor<int32, [?]>>>, tuple<string, dict<string, "
                              "list<tensor<int32, [2]>, ?>>>>(((\"DefaultShapes\", {{\"x\", [4]}}), (\"RangeDims\", "
                              "{{\"x\", [[0, 4]]}})))]{tensor<fp32, [?]> z = tanh(x = x);} -> (z);}";

static void test_functions_are_listed_and_taken_alone(void)
{
    mw_error err = {0};
    mw_admitted_shapes admitted;
    mw_graph *g = parse_with(several, NULL, &err);
    CHECK_OK(err);
    CHECK_STR(mw_graph_function_at(g, 0), "main");
    CHECK_STR(mw_graph_function_at(g, 1), "decode");
    CHECK(mw_graph_function_at(g, 2) == NULL);
    CHECK(mw_graph_function_at(NULL, 0) == NULL);
    mw_graph *decode = mw_graph_function(g, "decode", &err);
    CHECK_OK(err);
    mw_graph_destroy(g);
    CHECK(mw_graph_function_at(decode, 1) == NULL);
    CHECK_STR(mw_graph_function_at(decode, 0), "main");
    CHECK(mw_graph_find(decode, "z") != NULL && mw_graph_find(decode, "y") == NULL);
    CHECK_INT(mw__graph_main(decode)->opset, MW_IOS18);
    CHECK_INT(mw_graph_admitted_shapes(decode, "x", &admitted, &err), MW_OK);
    CHECK_INT(admitted.high.dim[0], 4);
    mw_graph *four = mw_graph_specialize(decode, NULL, 0, &err);
    CHECK_OK(err);
    CHECK_SHAPE(four, "z", S(4));
    char *text = mw_graph_print_mil(four, NULL, &err);
    CHECK(text != NULL && strstr(text, "Flexible") == NULL);
    mw_string_free(text);
    mw_graph_destroy(four);
    mw_graph_destroy(decode);
}

static void test_a_function_that_is_not_there_is_refused(void)
{
    mw_error err = {0};
    mw_graph *g = parse_with(several, NULL, &err);
    CHECK(mw_graph_function(g, "encode", &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "there is no function \"encode\"; the program has main, decode");
    mw_error_clear(&err);
    CHECK(mw_graph_function(NULL, "main", &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "NULL");
    mw_error_clear(&err);
    mw_graph_destroy(g);
    g = parse_with("program(1.3){func only<ios17>(tensor<fp32, [2]> x){tensor<fp32, [2]> y = relu(x = x);} -> (y);}",
                   NULL, &err);
    mw_graph *alone = mw_graph_function(g, NULL, &err);
    CHECK_OK(err);
    CHECK(mw_graph_find(alone, "y") != NULL);
    mw_graph_destroy(alone);
    CHECK(mw_graph_specialize(g, NULL, 0, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "there is no function \"main\"; take one by mw_graph_function");
    mw_graph_destroy(g);
}

int main(void)
{
    RUN(test_extents_follow_through_shape_arithmetic);
    RUN(test_a_pruned_copy_has_no_arithmetic_left);
    RUN(test_a_result_that_becomes_a_constant_keeps_its_name);
    RUN(test_a_declared_extent_that_cannot_be_had_is_refused);
    RUN(test_a_product_of_extents_that_overflows_is_refused);
    RUN(test_inputs_whose_values_decide_are_named);
    RUN(test_what_nothing_decides_is_refused_by_name);
    RUN(test_hostile_calls_are_refused);
    RUN(test_every_failing_allocation_is_survived);
    RUN(test_extents_follow_into_a_loop);
    RUN(test_extents_follow_into_branches);
    RUN(test_a_variable_that_grows_is_refused);
    RUN(test_extents_of_list_elements_follow);
    RUN(test_nested_loops_end);
    RUN(test_functions_are_listed_and_taken_alone);
    RUN(test_a_function_that_is_not_there_is_refused);
    return check_finish();
}
