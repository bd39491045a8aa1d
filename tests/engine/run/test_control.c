/* Branches, loops, lists and states as the engine runs them: values against loops in C, in place, on one partition and
 * three, alone and by a team, what is refused, and what a turn of a loop costs. */
#include "engine/run.h"
#include "support/check.h"

#include <stdlib.h>
#include <time.h>

enum { PARTITIONS = 2 };
static const uint64_t partitions_of[PARTITIONS] = {1, 3};

/* ---- loops ---- */

/* Euclid's algorithm and a product that is carried along: swapped variables, one that stays, one captured. */
static const char euclid[] =
    RUN_TEXT("tensor<int32, [1]> a, tensor<int32, [1]> b, tensor<fp32, [3]> x, tensor<fp32, [3]> w",
             "int32 zero = const()[name = string(\"zero\"), val = int32(0)];"
             "tensor<int32, [1]> g, tensor<int32, [1]> r, tensor<fp32, [3]> y, tensor<fp32, [3]> same, int32 n = "
             "while_loop(loop_vars = (a, b, x, x, zero))[name = string(\"loop\")]"
             " (tensor<int32, [1]> p, tensor<int32, [1]> q, tensor<fp32, [3]> v, tensor<fp32, [3]> s, int32 i)"
             " { tensor<bool, [1]> c = not_equal(x = q, y = zero)[name = string(\"c\")];"
             "   bool d = squeeze(x = c)[name = string(\"d\")]; } -> (d)"
             " (tensor<int32, [1]> p2, tensor<int32, [1]> q2, tensor<fp32, [3]> v2, tensor<fp32, [3]> s2, int32 i2)"
             " { int32 one = const()[name = string(\"one\"), val = int32(1)];"
             "   tensor<int32, [1]> m = mod(x = p2, y = q2)[name = string(\"m\")];"
             "   tensor<fp32, [3]> u = mul(x = v2, y = w)[name = string(\"u\")];"
             "   tensor<fp32, [3]> t = add(x = u, y = s2)[name = string(\"t\")];"
             "   int32 j = add(x = i2, y = one)[name = string(\"j\")]; } -> (q2, m, t, s2, j);",
             "g, y, same, n");

static void run_euclid(int32_t a, int32_t b, uint64_t partitions)
{
    run_program r;
    if (!run_open(&r, euclid, E5RT_CPU, partitions))
        return;
    int32_t *at = run_bind(&r, false, "a", 4), *bt = run_bind(&r, false, "b", 4);
    float *x = run_bind(&r, false, "x", 12), *w = run_bind(&r, false, "w", 12);
    const int32_t *g = run_bind(&r, true, "g", 4), *n = run_bind(&r, true, "n", 4);
    const float *y = run_bind(&r, true, "y", 12), *same = run_bind(&r, true, "same", 12);
    if (!run_encode(&r))
        return;
    CHECK(run_check_plan(&r));
    for (int again = 0; again < 2; again++) {
        *at = a;
        *bt = b;
        float v[3];
        for (int i = 0; i < 3; i++) {
            v[i] = x[i] = 0.5F + (float)i;
            w[i] = 0.25F * (float)(i - 1);
        }
        int32_t p = a, q = b, turns = 0;
        for (; q != 0; turns++) {
            const int32_t m = p % q;
            p = q;
            q = m;
            for (int i = 0; i < 3; i++)
                v[i] = v[i] * w[i] + x[i];
        }
        CHECK(run_execute(&r));
        CHECK_INT(*g, p);
        CHECK_INT(*n, turns);
        for (int i = 0; i < 3; i++) {
            CHECK_NEAR(y[i], v[i], 0.0);
            CHECK_NEAR(same[i], x[i], 0.0);
        }
    }
    run_close(&r);
}

static void test_a_loop_turns_as_often_as_its_values_say(void)
{
    for (int i = 0; i < PARTITIONS; i++) {
        run_euclid(1071, 462, partitions_of[i]);
        run_euclid(17, 5, partitions_of[i]);
        run_euclid(8, 0, partitions_of[i]); /* not once */
    }
}

/* A loop in a branch in a loop: sums of i over odd i, each added k times. */
static const char deep[] =
    RUN_TEXT("tensor<int32, []> limit, tensor<int32, []> k",
             "int32 zero = const()[name = string(\"zero\"), val = int32(0)];"
             "int32 one = const()[name = string(\"one\"), val = int32(1)];"
             "int32 two = const()[name = string(\"two\"), val = int32(2)];"
             "int32 n, int32 total = while_loop(loop_vars = (zero, zero))[name = string(\"outer\")]"
             " (int32 i, int32 s) { bool c = less(x = i, y = limit)[name = string(\"c\")]; } -> (c)"
             " (int32 i, int32 s) {"
             "   int32 odd = mod(x = i, y = two)[name = string(\"odd\")];"
             "   bool is_odd = equal(x = odd, y = one)[name = string(\"is_odd\")];"
             "   int32 s3 = cond(pred = is_odd)[name = string(\"s3\")]"
             "   () { int32 m, int32 t = while_loop(loop_vars = (zero, s))[name = string(\"inner\")]"
             "     (int32 j, int32 t0) { bool more = less(x = j, y = k)[name = string(\"more\")]; } -> (more)"
             "     (int32 j, int32 t0) { int32 t1 = add(x = t0, y = i)[name = string(\"t1\")];"
             "       int32 j1 = add(x = j, y = one)[name = string(\"j1\")]; } -> (j1, t1); } -> (t)"
             "   () { } -> (s);"
             "   int32 i1 = add(x = i, y = one)[name = string(\"i1\")]; } -> (i1, s3);",
             "total, n");

static void test_loops_and_branches_nest(void)
{
    for (int p = 0; p < PARTITIONS; p++) {
        run_program r;
        REQUIRE(run_open(&r, deep, E5RT_CPU, partitions_of[p]));
        int32_t *limit = run_bind(&r, false, "limit", 4), *k = run_bind(&r, false, "k", 4);
        const int32_t *total = run_bind(&r, true, "total", 4), *n = run_bind(&r, true, "n", 4);
        REQUIRE(run_encode(&r));
        for (*limit = 0; *limit < 7; ++*limit)
            for (*k = 0; *k < 4; ++*k) {
                int32_t want = 0;
                for (int32_t i = 1; i < *limit; i += 2)
                    want += i * *k;
                CHECK(run_execute(&r));
                CHECK_INT(*total, want);
                CHECK_INT(*n, *limit);
            }
        run_close(&r);
    }
}

/* Matrices large enough that the team runs the body: x = tanh(x W) k times, against the operations one by one. */
static const char power[] = RUN_TEXT(
    "tensor<fp32, [96, 96]> x, tensor<fp32, [96, 96]> w, tensor<int32, []> k",
    "int32 zero = const()[name = string(\"zero\"), val = int32(0)];"
    "int32 one = const()[name = string(\"one\"), val = int32(1)];"
    "bool no = const()[name = string(\"no\"), val = bool(false)];"
    "int32 n, tensor<fp32, [96, 96]> y = while_loop(loop_vars = (zero, x))[name = string(\"loop\")]"
    " (int32 i, tensor<fp32, [96, 96]> v) { bool c = less(x = i, y = k)[name = string(\"c\")]; } -> (c)"
    " (int32 i, tensor<fp32, [96, 96]> v) { int32 j = add(x = i, y = one)[name = string(\"j\")];"
    "   tensor<fp32, [96, 96]> p = matmul(transpose_x = no, transpose_y = no, x = v, y = w)[name = string(\"p\")];"
    "   tensor<fp32, [96, 96]> t = tanh(x = p)[name = string(\"t\")]; } -> (j, t);",
    "y");
static const char straight[] = RUN_TEXT(
    "tensor<fp32, [96, 96]> x, tensor<fp32, [96, 96]> w",
    "bool no = const()[name = string(\"no\"), val = bool(false)];"
    "tensor<fp32, [96, 96]> p = matmul(transpose_x = no, transpose_y = no, x = x, y = w)[name = string(\"p\")];"
    "tensor<fp32, [96, 96]> q = tanh(x = p)[name = string(\"q\")];"
    "tensor<fp32, [96, 96]> s = matmul(transpose_x = no, transpose_y = no, x = q, y = w)[name = string(\"s\")];"
    "tensor<fp32, [96, 96]> t = tanh(x = s)[name = string(\"t\")];"
    "tensor<fp32, [96, 96]> u = matmul(transpose_x = no, transpose_y = no, x = t, y = w)[name = string(\"u\")];"
    "tensor<fp32, [96, 96]> y = tanh(x = u)[name = string(\"y\")];",
    "y");

enum { SIDE = 96, ELEMENTS = SIDE * SIDE };

static void run_power(const char *text, uint64_t partitions, float *out)
{
    run_program r;
    REQUIRE(run_open(&r, text, E5RT_CPU, partitions));
    float *x = run_bind(&r, false, "x", ELEMENTS * 4), *w = run_bind(&r, false, "w", ELEMENTS * 4);
    int32_t *k = text == power ? run_bind(&r, false, "k", 4) : NULL;
    const float *y = run_bind(&r, true, "y", ELEMENTS * 4);
    for (int i = 0; i < ELEMENTS; i++) {
        x[i] = (float)(i % 13 - 6) / 7.0F;
        w[i] = (float)(i % 17 - 8) / 40.0F;
    }
    if (k != NULL)
        *k = 3;
    if (run_encode(&r) && run_execute(&r) && run_execute(&r))
        memcpy(out, y, ELEMENTS * 4);
    run_close(&r);
}

static void test_a_body_has_the_bits_of_its_operations_for_any_partitions(void)
{
    static float looped[ELEMENTS], plain[ELEMENTS];
    run_set("MW_ENGINE_WAKE", "0"); /* a team for everything */
    for (uint64_t partitions = 1; partitions <= 4; partitions++) {
        memset(looped, 0, sizeof looped);
        run_power(power, partitions, looped);
        run_power(straight, partitions, plain);
        CHECK(memcmp(looped, plain, sizeof looped) == 0);
    }
    run_set("MW_ENGINE_WAKE", NULL);
}

/* ---- branches ---- */

static const char one_side[] =
    RUN_TEXT("tensor<bool, []> p, tensor<fp16, [4]> x",
             "tensor<fp16, [4]> y = cond(pred = p)[name = string(\"y\")]"
             "() { tensor<fp16, [4]> a = add(x = x, y = x)[name = string(\"a\")]; } -> (a)"
             "() { fp16 three = const()[name = string(\"three\"), val = fp16(0x1.8p+1)];"
             "     tensor<fp16, [4]> b = mul(x = x, y = three)[name = string(\"b\")]; } -> (b);",
             "y");

static void test_a_branch_runs_its_side(void)
{
    for (int i = 0; i < PARTITIONS; i++) {
        run_program r;
        REQUIRE(run_open(&r, one_side, E5RT_CPU, partitions_of[i]));
        unsigned char *p = run_bind(&r, false, "p", 1);
        uint16_t *x = run_bind(&r, false, "x", 8);
        const uint16_t *y = run_bind(&r, true, "y", 8);
        REQUIRE(run_encode(&r));
        for (int e = 0; e < 4; e++)
            x[e] = 0x3C00; /* 1 */
        for (*p = 0; *p < 2; ++*p) {
            CHECK(run_execute(&r));
            for (int e = 0; e < 4; e++)
                CHECK_INT(y[e], *p != 0 ? 0x4000 : 0x4200); /* 2, 3 */
        }
        run_close(&r);
    }
}

/* ---- lists ---- */

/* Squares of x[i] are written into a list, one by one; then some are read. */
static const char squares[] = RUN_TEXT(
    "tensor<fp32, [5, 2]> x, tensor<int32, [3]> at, tensor<int32, []> one_at, tensor<int32, []> count",
    "int32 zero = const()[name = string(\"zero\"), val = int32(0)];"
    "int32 one = const()[name = string(\"one\"), val = int32(1)];"
    "tensor<int32, [5]> all = const()[name = string(\"all\"), val = tensor<int32, [5]>([0, 1, 2, 3, 4])];"
    "list<tensor<fp32, [2]>, 5> e = make_list(dtype = string(\"fp32\"), dynamic_length = bool(false), "
    "elem_shape = (int32(2)), init_length = int32(5))[name = string(\"e\")];"
    "list<tensor<fp32, [2]>, 5> in = list_scatter(indices = all, ls = e, value = x)[name = string(\"in\")];"
    "list<tensor<fp32, [2]>, 5> f = make_list(dtype = string(\"fp32\"), dynamic_length = bool(false), "
    "elem_shape = (int32(2)), init_length = int32(5))[name = string(\"f\")];"
    "int32 n, list<tensor<fp32, [2]>, 5> out = while_loop(loop_vars = (zero, f))[name = string(\"loop\")]"
    " (int32 i, list<tensor<fp32, [2]>, 5> l) { bool c = less(x = i, y = count)[name = string(\"c\")]; } -> (c)"
    " (int32 i, list<tensor<fp32, [2]>, 5> l) {"
    "   tensor<fp32, [2]> v = list_read(index = i, ls = in)[name = string(\"v\")];"
    "   tensor<fp32, [2]> s = mul(x = v, y = v)[name = string(\"s\")];"
    "   list<tensor<fp32, [2]>, 5> l1 = list_write(index = i, ls = l, value = s)[name = string(\"l1\")];"
    "   int32 j = add(x = i, y = one)[name = string(\"j\")]; } -> (j, l1);"
    "tensor<fp32, [3, 2]> some = list_gather(indices = at, ls = out)[name = string(\"some\")];"
    "tensor<fp32, [2]> single = list_read(index = one_at, ls = out)[name = string(\"single\")];"
    "int32 length = list_length(ls = out)[name = string(\"length\")];",
    "some, single, length");

static void test_a_list_holds_what_was_written(void)
{
    static const int32_t at[3] = {4, 0, 7}, one_at[] = {2, -1, 5, INT32_MAX, INT32_MIN};
    for (int p = 0; p < PARTITIONS; p++) {
        run_program r;
        REQUIRE(run_open(&r, squares, E5RT_CPU, partitions_of[p]));
        float *x = run_bind(&r, false, "x", 40);
        memcpy(run_bind(&r, false, "at", sizeof at), at, sizeof at);
        int32_t *single_at = run_bind(&r, false, "one_at", 4), *count = run_bind(&r, false, "count", 4);
        const float *some = run_bind(&r, true, "some", 24), *single = run_bind(&r, true, "single", 8);
        const int32_t *length = run_bind(&r, true, "length", 4);
        REQUIRE(run_encode(&r));
        for (int i = 0; i < 10; i++)
            x[i] = (float)i - 3.5F;
        for (size_t k = 0; k < sizeof one_at / sizeof *one_at; k++) {
            *single_at = one_at[k];
            *count = k < 3 ? 5 : 1000; /* what is written outside is left out */
            CHECK(run_execute(&r));
            CHECK_INT(*length, 5);
            for (int e = 0; e < 2; e++) {
                CHECK_NEAR(some[e], x[8 + e] * x[8 + e], 0.0);
                CHECK_NEAR(some[2 + e], x[e] * x[e], 0.0);
                CHECK_NEAR(some[4 + e], 0.0, 0.0); /* outside */
                CHECK_NEAR(single[e], one_at[k] == 2 ? x[4 + e] * x[4 + e] : 0.0F, 0.0);
            }
        }
        run_close(&r);
    }
}

/* A list of dynamic length, ios16, that grows to what the loop counts below. */
static const char growing[] =
    "program(1.0)\n[buildInfo = dict<tensor<string, []>, tensor<string, []>>({})]\n{\nfunc main<ios16>("
    "tensor<int32, []> at, tensor<int32, []> stop) {"
    "tensor<int32, []> zero = const()[val = tensor<int32, []>(0)];"
    "tensor<int32, []> one = const()[val = tensor<int32, []>(1)];"
    "tensor<int32, []> six = const()[val = tensor<int32, []>(6)];"
    "tensor<string, []> kind = const()[val = tensor<string, []>(\"int32\")];"
    "tensor<bool, []> yes = const()[val = tensor<bool, []>(true)];"
    "list<tensor<int32, []>, ?> e = make_list(dtype = kind, dynamic_length = yes, elem_shape = (), init_length = one);"
    "tensor<int32, []> n, list<tensor<int32, []>, ?> out = while_loop(loop_vars = (zero, e))"
    " (tensor<int32, []> i, list<tensor<int32, []>, ?> l) {"
    "   tensor<bool, []> a = less(x = i, y = six); tensor<bool, []> b = less(x = i, y = stop);"
    "   tensor<bool, []> c = logical_and(x = a, y = b); } -> (c)"
    " (tensor<int32, []> i, list<tensor<int32, []>, ?> l) {"
    "   tensor<int32, []> s = mul(x = i, y = i);"
    "   list<tensor<int32, []>, ?> l1 = list_write(index = i, ls = l, value = s);"
    "   tensor<int32, []> j = add(x = i, y = one); } -> (j, l1);"
    "tensor<int32, []> length = list_length(ls = out);"
    "tensor<int32, []> value = list_read(index = at, ls = out);"
    "} -> (length, value);\n}";

static void test_a_dynamic_list_grows(void)
{
    run_program r;
    REQUIRE(run_open(&r, growing, E5RT_CPU, 1));
    int32_t *at = run_bind(&r, false, "at", 4), *stop = run_bind(&r, false, "stop", 4);
    const int32_t *length = run_bind(&r, true, "length", 4), *value = run_bind(&r, true, "value", 4);
    REQUIRE(run_encode(&r));
    for (*stop = 0; *stop < 9; ++*stop)
        for (*at = -2; *at < 9; ++*at) {
            const int32_t wanted = *stop < 1 ? 1 : *stop > 6 ? 6 : *stop;
            CHECK(run_execute(&r));
            CHECK_INT(*length, wanted);
            CHECK_INT(*value, *at >= 0 && *at < wanted ? *at * *at : 0);
        }
    run_close(&r);
}

/* Each turn writes one element of a carried list: a copy of the list in every turn would take time with the square of
 * its length. */
static double fill_seconds(int length)
{
    char text[4096];
    snprintf(text, sizeof text,
             RUN_TEXT("tensor<fp32, [16]> x",
                      "int32 zero = const()[name = string(\"zero\"), val = int32(0)];"
                      "int32 one = const()[name = string(\"one\"), val = int32(1)];"
                      "int32 n = const()[name = string(\"n\"), val = int32(%d)];"
                      "list<tensor<fp32, [16]>, %d> e = make_list(dtype = string(\"fp32\"), dynamic_length = "
                      "bool(false), elem_shape = (int32(16)), init_length = n)[name = string(\"e\")];"
                      "int32 m, list<tensor<fp32, [16]>, %d> out = while_loop(loop_vars = (zero, e))"
                      " (int32 i, list<tensor<fp32, [16]>, %d> l) { bool c = less(x = i, y = n); } -> (c)"
                      " (int32 i, list<tensor<fp32, [16]>, %d> l) {"
                      "   list<tensor<fp32, [16]>, %d> l1 = list_write(index = i, ls = l, value = x);"
                      "   int32 j = add(x = i, y = one); } -> (j, l1);"
                      "tensor<fp32, [16]> y = list_read(index = int32(7), ls = out)[name = string(\"y\")];",
                      "y"),
             length, length, length, length, length, length);
    run_program r;
    double best = 1e9;
    if (!run_open(&r, text, E5RT_CPU, 1))
        return best;
    float *x = run_bind(&r, false, "x", 64);
    const float *y = run_bind(&r, true, "y", 64);
    x[3] = 1.5F;
    const bool encoded = run_encode(&r);
    for (int i = 0; i < 5 && encoded; i++) {
        const clock_t begin = clock();
        run_execute(&r);
        const double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
        best = seconds < best ? seconds : best;
    }
    CHECK_NEAR(y[3], 1.5, 0.0);
    run_close(&r);
    return best;
}

static void test_a_turn_copies_no_list(void)
{
    const double few = fill_seconds(2000), many = fill_seconds(32000);
    /* 16 times as many turns; 256 times as long if each copied the list */
    check_note(many < few * 16 * 4, __FILE__, __LINE__, "2000 turns take %g s, 32000 take %g s", few, many);
}

/* ---- states ---- */

/* k is read, added to, written, read again; r0 is what it was. */
static const char counter[] =
    "program(1.3)\n[buildInfo = dict<string, string>({})]\n{\nfunc main<ios18>(state<tensor<fp16, [2]>> k, "
    "tensor<fp16, [2]> x) {"
    "tensor<fp16, [2]> r0 = read_state(input = k)[name = string(\"r0\")];"
    "tensor<fp16, [2]> y = add(x = r0, y = x)[name = string(\"y\")];"
    "write_state(data = y, input = k)[name = string(\"w\")];"
    "tensor<fp16, [2]> r1 = read_state(input = k)[name = string(\"r1\")];"
    "tensor<fp16, [2]> z = add(x = r1, y = r0)[name = string(\"z\")];"
    "} -> (z, r1);\n}";

static void test_a_state_is_read_before_and_after_it_is_written(void)
{
    for (int p = 0; p < PARTITIONS; p++) {
        run_program r;
        REQUIRE(run_open(&r, counter, E5RT_CPU, partitions_of[p]));
        uint16_t *k = run_bind(&r, false, "k", 4), *x = run_bind(&r, false, "x", 4);
        const uint16_t *z = run_bind(&r, true, "z", 4), *r1 = run_bind(&r, true, "r1", 4);
        REQUIRE(run_encode(&r));
        x[0] = 0x3C00; /* 1 */
        x[1] = 0x4000; /* 2 */
        CHECK(run_execute(&r));
        CHECK(k[0] == 0x3C00 && k[1] == 0x4000 && r1[0] == 0x3C00 && r1[1] == 0x4000);
        CHECK(z[0] == 0x3C00 && z[1] == 0x4000);
        CHECK(run_execute(&r)); /* 1 + 1 = 2, 2 + 2 = 4; z = 2 + 1, 4 + 2 */
        CHECK(k[0] == 0x4000 && k[1] == 0x4400 && r1[0] == 0x4000);
        CHECK(z[0] == 0x4200 && z[1] == 0x4600);
        run_close(&r);
    }
}

/* A state that a loop writes as often as it turns, and a branch only where it is taken. */
static const char in_blocks[] =
    "program(1.3)\n[buildInfo = dict<string, string>({})]\n{\nfunc main<ios18>(state<tensor<fp32, [2]>> k, "
    "tensor<bool, []> p, tensor<int32, []> n) {"
    "int32 zero = const()[name = string(\"zero\"), val = int32(0)];"
    "int32 one = const()[name = string(\"one\"), val = int32(1)];"
    "fp32 step = const()[name = string(\"step\"), val = fp32(0x1p-2)];"
    "int32 m = while_loop(loop_vars = (zero))[name = string(\"m\")]"
    " (int32 i) { bool c = less(x = i, y = n)[name = string(\"c\")]; } -> (c)"
    " (int32 i) { tensor<fp32, [2]> v = read_state(input = k)[name = string(\"v\")];"
    "   tensor<fp32, [2]> u = add(x = v, y = step)[name = string(\"u\")];"
    "   write_state(data = u, input = k)[name = string(\"w1\")];"
    "   int32 j = add(x = i, y = one)[name = string(\"j\")]; } -> (j);"
    "int32 d = cond(pred = p)[name = string(\"d\")]"
    " () { tensor<fp32, [2]> v2 = read_state(input = k)[name = string(\"v2\")];"
    "   tensor<fp32, [2]> u2 = mul(x = v2, y = v2)[name = string(\"u2\")];"
    "   write_state(data = u2, input = k)[name = string(\"w2\")]; } -> (one)"
    " () { } -> (zero);"
    "tensor<fp32, [2]> y = read_state(input = k)[name = string(\"y\")];"
    "} -> (y, d);\n}";

static void test_a_state_is_written_in_blocks(void)
{
    for (int partitions = 0; partitions < PARTITIONS; partitions++) {
        run_program r;
        REQUIRE(run_open(&r, in_blocks, E5RT_CPU, partitions_of[partitions]));
        float *k = run_bind(&r, false, "k", 8);
        unsigned char *p = run_bind(&r, false, "p", 1);
        int32_t *n = run_bind(&r, false, "n", 4);
        const float *y = run_bind(&r, true, "y", 8);
        const int32_t *d = run_bind(&r, true, "d", 4);
        REQUIRE(run_encode(&r));
        float want = 0.0F;
        for (int run = 0; run < 6; run++) {
            *n = run;
            *p = run % 2 == 0;
            want += 0.25F * (float)run;
            want = *p != 0 ? want * want : want;
            CHECK(run_execute(&r));
            CHECK_INT(*d, *p);
            for (int i = 0; i < 2; i++) {
                CHECK_NEAR(k[i], want, 0.0);
                CHECK_NEAR(y[i], want, 0.0);
            }
        }
        run_close(&r);
    }
}

/* ---- what is refused ---- */

static void check_refused(const char *text, const char *part)
{
    run_program r;
    if (!CHECK(run_try_open(&r, text, E5RT_CPU, 1) != 0))
        run_close(&r);
    else
        check_note(strstr(run_message(), part) != NULL, __FILE__, __LINE__, "\"%s\" does not say \"%s\"", run_message(),
                   part);
}

#define LOOP(head, conditions, body)                                                                                   \
    RUN_TEXT("tensor<fp32, [2]> x, tensor<int32, []> k",                                                               \
             "int32 one = const()[name = string(\"one\"), val = int32(1)];" head                                       \
             " = while_loop(loop_vars = (x, one))[name = string(\"l\")] (tensor<fp32, [2]> v, int32 i) {" conditions   \
             " (tensor<fp32, [2]> v, int32 i) {" body,                                                                 \
             "r")

static void test_what_is_refused(void)
{
    check_refused(LOOP("tensor<fp32, [2]> r, int32 n", "bool c = less(x = i, y = k); } -> (c)",
                       "tensor<fp16, [2]> h = cast(dtype = string(\"fp16\"), x = v); } -> (h, i);"),
                  "its body gives another type than loop_vars[0] has");
    check_refused(LOOP("tensor<fp32, [2]> r, int32 n", "bool c = less(x = i, y = k); } -> (c, c)", "} -> (v, i);"),
                  "its condition gives 2 values, not one bool");
    check_refused(
        LOOP("tensor<fp32, [2]> r, int32 n", "tensor<bool, [2]> c = less(x = v, y = v); } -> (c)", "} -> (v, i);"),
        "its condition must be one bool");
    check_refused(RUN_TEXT("tensor<int32, []> k", /* writes anywhere */
                           "list<tensor<fp32, []>, ?> e = make_list(elem_shape = ())[name = string(\"e\")];"
                           "list<tensor<fp32, []>, ?> f = list_write(index = k, ls = e, value = fp32(1))"
                           "[name = string(\"f\")]; fp32 r = list_read(index = k, ls = f)[name = string(\"r\")];",
                           "r"),
                  "list_write \"f\": writes into a list of dynamic length at an index that has no bound");
    check_refused(RUN_TEXT("tensor<int32, []> k",
                           "list<tensor<fp32, [?]>, 2> e = make_list(elem_shape = (string(\"s\")), init_length = "
                           "int32(2))[name = string(\"e\")]; tensor<fp32, [?]> r = list_read(index = k, ls = e)"
                           "[name = string(\"r\")];",
                           "r"),
                  "make_list \"e\": the shape of its elements is not known");
    check_refused(RUN_TEXT("tensor<int32, []> k",
                           "list<tensor<fp32, [2]>, 2> e = make_list(elem_shape = (int32(2)), init_length = "
                           "int32(2), dynamic_length = bool(false))[name = string(\"e\")];"
                           "tensor<fp32, [2]> r = list_read(index = int32(2), ls = e)[name = string(\"r\")];",
                           "r"),
                  "list_read \"r\": a constant index is outside of the list");
    check_refused(RUN_TEXT("list<tensor<fp32, [2]>, 2> e",
                           "tensor<fp32, [2]> r = list_read(index = int32(1), ls = e)"
                           "[name = string(\"r\")];",
                           "r"),
                  "input \"e\" is no tensor");
}

static void test_a_list_that_no_memory_holds_is_refused(void)
{
    static const char *const lengths[] = {"2147483647", "1099511627776"};
    for (int i = 0; i < 2; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 RUN_TEXT("tensor<int32, []> k",
                          "list<tensor<fp32, [1048576]>, ?> e = make_list(elem_shape = (int32(1048576)), init_length "
                          "= int32(%s), dynamic_length = bool(false))[name = string(\"e\")];"
                          "tensor<fp32, [1048576]> r = list_read(index = k, ls = e)[name = string(\"r\")];",
                          "r"),
                 lengths[i]);
        run_program r;
        if (!CHECK(run_try_open(&r, text, E5RT_CPU, 1) != 0))
            run_close(&r);
        else if (i == 0) /* int32 does not hold the other */
            check_note(strstr(run_message(), "its list would take more than 256 GiB") != NULL, __FILE__, __LINE__, "%s",
                       run_message());
    }
}

/* ---- what is written otherwise ---- */

static const char classifier[] =
    RUN_TEXT("tensor<fp32, [3]> x",
             "list<string, 3> l = const()[val = list<string, 3>([\"a\", \"b\", \"c\"])];"
             "string best, dict<string, fp32> chances = classify(classes = l, probabilities = x);"
             "tensor<fp32, [1, 3, 1]> r = reshape(shape = tensor<int32, [3]>([1, 3, 1]), x = x);"
             "tensor<fp32, [1, 1, 1]> y = conv_quantized(quant_bias = tensor<fp32, [1]>([-1]), quant_scale = "
             "tensor<fp32, [1]>([0x1p-1]), quantization_type = string(\"linear\"), weight = tensor<uint8, [1, 3, "
             "1]>([[[1], [4], [10]]]), x = r);",
             "best, chances, y");

/* Texts that no program of ours wrote: an index and a vector where the text says a label and a dictionary. */
static void test_a_classifier_gives_an_index_and_its_probabilities(void)
{
    for (int p = 0; p < PARTITIONS; p++) {
        run_program r;
        if (!run_open(&r, classifier, 1, partitions_of[p]))
            continue;
        float *x = run_bind(&r, false, "x", 3 * sizeof *x),
              *chances = run_bind(&r, true, "chances", 3 * sizeof *chances);
        int32_t *best = run_bind(&r, true, "best", sizeof *best);
        float *y = run_bind(&r, true, "y", sizeof *y);
        REQUIRE(x != NULL && chances != NULL && best != NULL && y != NULL);
        memcpy(x, (const float[]){0.25f, 0.5f, 0.125f}, 3 * sizeof *x);
        if (run_encode(&r) && run_execute(&r)) {
            CHECK_INT(best[0], 1);
            CHECK(memcmp(chances, x, 3 * sizeof *x) == 0);
            CHECK_NEAR((double)y[0], 0.25 * -0.5 + 0.5 * 1 + 0.125 * 4, 0);
        }
        run_close(&r);
    }
}

int main(void)
{
    RUN(test_a_loop_turns_as_often_as_its_values_say);
    RUN(test_loops_and_branches_nest);
    RUN(test_a_body_has_the_bits_of_its_operations_for_any_partitions);
    RUN(test_a_branch_runs_its_side);
    RUN(test_a_list_holds_what_was_written);
    RUN(test_a_dynamic_list_grows);
    RUN(test_a_turn_copies_no_list);
    RUN(test_a_state_is_read_before_and_after_it_is_written);
    RUN(test_a_state_is_written_in_blocks);
    RUN(test_what_is_refused);
    RUN(test_a_list_that_no_memory_holds_is_refused);
    RUN(test_a_classifier_gives_an_index_and_its_probabilities);
    return check_finish();
}
