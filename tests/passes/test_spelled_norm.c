/* Layer norm, RMS norm and attention from parts (rows spelled_* of passes/rewrites.def), and weights behind a layer
 * norm: recognized in each way that models write them, equal to double precision, and left where a part differs. */
#include "compiled.h"
#include "support/check.h"
#include "support/on_engine.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { B = 2, T = 3, D = 5, COUNT = B * T * D, TEXT = 8192 };

#define X "tensor<fp32, [2, 3, 5]>"
#define M "tensor<fp32, [2, 3, 1]>"

static float x_at(size_t i) { return (float)(sin(1.7 * (double)i) * 2 + 0.5); }

static bool run_case(const char *body, const char *off, seen_passes *seen, float y[COUNT])
{
    mw_error err = {0};
    char text[TEXT];
    float x[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        x[i] = x_at(i);
    snprintf(text, sizeof text, "program(1.3)\n{func main<ios18>(" X " x) {%s} -> (y);}", body);
    mw_graph *graph = mw_graph_parse_mil(text, strlen(text), NULL, NULL, &err);
    mw_program *program = compiled_for(graph, MW_DEVICE_CPU, MW_CHIP_AUTO, off, seen, &err);
    mw_program_write(program, "x", MW_F32, x, COUNT, &err);
    mw_program_run(program, &err);
    mw_program_read(program, "y", MW_F32, y, COUNT, &err);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
    return check_note(err.status == MW_OK, __FILE__, __LINE__, "%s in %s", err.message, body);
}

/* ---- in double precision ---- */

static void normalize(bool centered, double epsilon, int count, double y[COUNT])
{
    for (int at = 0; at < COUNT; at += count) {
        double mean = 0, squares = 0;
        for (int i = 0; i < count; i++)
            mean += (double)x_at((size_t)(at + i)) / count;
        mean = centered ? mean : 0;
        for (int i = 0; i < count; i++)
            squares += pow((double)x_at((size_t)(at + i)) - mean, 2) / count;
        for (int i = 0; i < count; i++)
            y[at + i] = ((double)x_at((size_t)(at + i)) - mean) / sqrt(squares + epsilon);
    }
}

static void check_elements(const char *what, const float got[COUNT], const double wanted[COUNT])
{
    for (size_t i = 0; i < COUNT; i++)
        check_note(fabs((double)got[i] - wanted[i]) <= 4e-6 * (1 + fabs(wanted[i])), __FILE__, __LINE__,
                   "%s: element %zu is %.9g, not %.9g", what, i, (double)got[i], wanted[i]);
}

/* ---- norms ---- */

#define MEAN(name, of) M " " name " = reduce_mean(axes = tensor<int32, [1]>([-1]), keep_dims = bool(true), x = " of ");"
#define CENTER         MEAN("m", "x") X " d = sub(x = x, y = m);"

static const char *const squares_of[] = {
    X " q = pow(x = %s, y = fp32(2));",
    X " q = mul(x = %s, y = %s);",
    X " q = square(x = %s);",
};

static const char *const roots_of[] = {
    M " a = add(x = v, y = fp32(0.01)); " M " s = sqrt(x = a); " X " y = real_div(x = %s, y = s);",
    M " a = add(x = fp32(0.01), y = v); " M " s = sqrt(x = a); " X " y = real_div(x = %s, y = s);",
    M " a = add(x = tensor<fp32, [1]>([0.01]), y = v); " M " s = pow(x = a, y = fp32(0.5)); " X
      " y = real_div(x = %s, y = s);",
    M " a = add(x = v, y = fp32(0.01)); " M " r = rsqrt(epsilon = fp32(0), x = a); " X " y = mul(x = %s, y = r);",
    M " r = rsqrt(epsilon = fp32(0.01), x = v); " X " y = mul(x = r, y = %s);",
    M " a = add(x = v, y = fp32(0.01)); " M " s = sqrt(x = a); " M " r = real_div(x = fp32(1), y = s); " X
      " y = mul(x = %s, y = r);",
    M " a = add(x = v, y = fp32(0.01)); " M " s = sqrt(x = a); " M " r = inverse(epsilon = fp32(0), x = s); " X
      " y = mul(x = r, y = %s);",
    M " a = add(x = v, y = fp32(0.01)); " M " r = pow(x = a, y = fp32(-0.5)); " X " y = mul(x = r, y = %s);",
};

enum { SQUARES = sizeof squares_of / sizeof *squares_of, ROOTS = sizeof roots_of / sizeof *roots_of };

static void put_with(char *out, size_t size, const char *format, const char *name)
{
    const size_t length = strlen(out);
    size_t at = length;
    for (const char *from = format; *from != '\0' && at + 2 < size; from++)
        if (from[0] == '%' && from[1] == 's')
            at += (size_t)snprintf(out + at, size - at, "%s", name), from++;
        else
            out[at++] = *from;
    out[at] = '\0';
}

static void check_norm(bool centered, int square, int root)
{
    char body[TEXT] = "", what[100];
    float y[COUNT] = {0};
    double wanted[COUNT];
    seen_passes seen = {0};
    const char *of = centered ? "d" : "x";
    const mw__rule_id row = centered ? MW__RULE_spelled_layer_norm : MW__RULE_spelled_rms_norm;
    snprintf(what, sizeof what, "%s norm, square %d, root %d", centered ? "layer" : "rms", square, root);
    put_with(body, sizeof body, centered ? CENTER : "", of);
    put_with(body, sizeof body, squares_of[square], of);
    put_with(body, sizeof body, MEAN("v", "q"), of);
    put_with(body, sizeof body, roots_of[root], of);
    normalize(centered, 0.01, D, wanted);
    /* the engine's own form of an RMS norm has nothing to be recognized */
    const bool own = !centered && root == 4;
    if (run_case(body, NULL, &seen, y)) {
        check_note(seen.hits[row] == (own ? 0 : 1), __FILE__, __LINE__, "%s: %zu hits", what, seen.hits[row]);
        check_elements(what, y, wanted);
    }
    seen_deinit(&seen);
}

static void test_norms_are_recognized_however_they_are_written(void)
{
    for (int square = 0; square < SQUARES; square++)
        for (int root = 0; root < ROOTS; root++) {
            check_norm(true, square, root);
            check_norm(false, square, root);
        }
}

/* Two differences of the same, as some exporters write. */
static void test_a_layer_norm_of_two_differences(void)
{
    float y[COUNT] = {0};
    double wanted[COUNT];
    seen_passes seen = {0};
    normalize(true, 0.01, D, wanted);
    run_case(CENTER X " e = sub(x = x, y = m); " X " q = square(x = e);" MEAN("v", "q") M
             " r = rsqrt(epsilon = fp32(0.01), x = v); " X " y = mul(x = d, y = r);",
             NULL, &seen, y);
    CHECK(seen.hits[MW__RULE_spelled_layer_norm] == 1);
    check_elements("two differences", y, wanted);
    seen_deinit(&seen);
}

static const struct near_norm {
    const char *what, *body;
} near_norms[] = {
    {"a mean over another axis",
     "tensor<fp32, [2, 1, 5]> m = reduce_mean(axes = tensor<int32, [1]>([1]), keep_dims = bool(true), x = x);" X
     " d = sub(x = x, y = m); " X " q = square(x = d);" MEAN("v", "q") M " r = rsqrt(epsilon = fp32(0.01), x = v); " X
                                                                         " y = mul(x = d, y = r);"},
    {"squares of something else", CENTER X " q = square(x = x);" MEAN("v", "q") M
     " r = rsqrt(epsilon = fp32(0.01), x = v); " X " y = mul(x = d, y = r);"},
    {"a sum in place of a mean", CENTER X
     " q = square(x = d); " M " v = reduce_sum(axes = tensor<int32, [1]>([-1]), keep_dims = bool(true), x = q);" M
     " r = rsqrt(epsilon = fp32(0.01), x = v); " X " y = mul(x = d, y = r);"},
    {"no root", CENTER X " q = square(x = d);" MEAN("v", "q") M " a = add(x = v, y = fp32(0.01)); " X
                                                                " y = real_div(x = d, y = a);"},
    {"the difference the other way", MEAN("m", "x") X " d = sub(x = m, y = x); " X " q = square(x = d);" MEAN("v", "q")
                                         M " r = rsqrt(epsilon = fp32(0.01), x = v); " X " y = mul(x = d, y = r);"},
};

static void test_what_is_no_layer_norm_is_left(void)
{
    for (size_t k = 0; k < sizeof near_norms / sizeof *near_norms; k++) {
        float y[COUNT] = {0}, plain[COUNT] = {0};
        double wanted[COUNT];
        seen_passes seen = {0}, without = {0};
        if (run_case(near_norms[k].body, NULL, &seen, y) &&
            run_case(near_norms[k].body, "recognize,absorb", &without, plain)) {
            check_note(seen.hits[MW__RULE_spelled_layer_norm] == 0, __FILE__, __LINE__, "%s is recognized",
                       near_norms[k].what);
            for (size_t i = 0; i < COUNT; i++)
                wanted[i] = (double)plain[i];
            check_elements(near_norms[k].what, y, wanted);
        }
        seen_deinit(&seen);
        seen_deinit(&without);
    }
}

/* ---- weights behind it ---- */

static void test_weights_behind_a_layer_norm_are_its_own(void)
{
    static const double gamma[D] = {1, -2, 0.5, 3, 0.25}, beta[D] = {0.125, 0, -1, 2, 0.5};
    float y[COUNT] = {0};
    double wanted[COUNT];
    seen_passes seen = {0};
    normalize(true, 0.01, D, wanted);
    for (size_t i = 0; i < COUNT; i++)
        wanted[i] = wanted[i] * gamma[i % D] + beta[i % D];
    run_case(CENTER X " q = square(x = d);" MEAN("v", "q") M
             " r = rsqrt(epsilon = fp32(0.01), x = v); " X " n = mul(x = d, y = r); " X
             " g = mul(x = tensor<fp32, [5]>([1, -2, 0.5, 3, 0.25]), y = n);" X
             " y = add(x = g, y = tensor<fp32, [1, 1, 5]>([[[0.125, 0, -1, 2, 0.5]]]));",
             NULL, &seen, y);
    CHECK(seen.hits[MW__RULE_spelled_layer_norm] == 1);
    CHECK(seen.hits[MW__RULE_scaled_norm] == 1);
    check_elements("gamma and beta", y, wanted);
    seen_deinit(&seen);
}

/* ---- attention ---- */

/* The query is x, the key 1 - x, the value 2 x; scores are scaled, and a mask is added or not. */
static void attend(double scale, bool masked, double y[COUNT])
{
    for (int b = 0; b < B; b++)
        for (int t = 0; t < T; t++) {
            double weights[T], sum = 0;
            for (int s = 0; s < T; s++) {
                double score = 0;
                for (int d = 0; d < D; d++)
                    score +=
                        (double)x_at((size_t)((b * T + t) * D + d)) * (1 - (double)x_at((size_t)((b * T + s) * D + d)));
                sum += weights[s] = exp(scale * score + (masked ? 0.5 * s - t : 0));
            }
            for (int d = 0; d < D; d++) {
                double all = 0;
                for (int s = 0; s < T; s++)
                    all += weights[s] / sum * 2 * (double)x_at((size_t)((b * T + s) * D + d));
                y[(b * T + t) * D + d] = all;
            }
        }
}

#define S        "tensor<fp32, [2, 3, 3]>"
#define OPERANDS X " k = sub(x = fp32(1), y = x); " X " u = add(x = x, y = x);"
#define PRODUCT(name, x, y, turned)                                                                                    \
    name " = matmul(transpose_x = bool(false), transpose_y = bool(" turned "), x = " x ", y = " y ");"
#define TURNED "tensor<fp32, [2, 5, 3]> kt = transpose(perm = tensor<int32, [3]>([0, 2, 1]), x = k);"
#define MASK                                                                                                           \
    S " n = const()[val = tensor<fp32, [2, 3, 3]>([[[0, 0.5, 1], [-1, -0.5, 0], [-2, -1.5, -1]], [[0, 0.5, 1], [-1, "  \
      "-0.5, 0], [-2, -1.5, -1]]])];"
#define END(of) S " w = softmax(axis = int32(-1), x = " of ");" PRODUCT(X " y", "w", "u", "false")

static const struct attention_case {
    const char *what, *body;
    double scale;
    bool masked;
    size_t hits;
} attentions[] = {
    {"plain", OPERANDS PRODUCT(S " p", "x", "k", "true") END("p"), 1, false, 1},
    {"scaled scores", OPERANDS PRODUCT(S " p", "x", "k", "true") S " s = mul(x = fp32(0.25), y = p);" END("s"), 0.25,
     false, 1},
    {"divided scores", OPERANDS PRODUCT(S " p", "x", "k", "true") S " s = real_div(x = p, y = fp32(4));" END("s"), 0.25,
     false, 1},
    {"a scaled query",
     OPERANDS X " q = mul(x = x, y = tensor<fp32, [1]>([0.25]));" PRODUCT(S " p", "q", "k", "true") END("p"), 0.25,
     false, 1},
    {"both scaled",
     OPERANDS X " q = mul(x = x, y = fp32(0.5)); " X " j = mul(x = k, y = fp32(0.5));" PRODUCT(S " p", "q", "j", "true")
         END("p"),
     0.25, false, 1},
    {"a key that is turned", OPERANDS TURNED PRODUCT(S " p", "x", "kt", "false") END("p"), 1, false, 1},
    {"a mask",
     MASK OPERANDS PRODUCT(S " p", "x", "k", "true") S " s = mul(x = p, y = fp32(0.25)); " S
                                                       " a = add(x = s, y = n);" END("a"),
     0.25, true, 1},
    {"a mask on the other side",
     MASK OPERANDS PRODUCT(S " p", "x", "k", "true") S " s = mul(x = p, y = fp32(0.25)); " S
                                                       " a = add(x = n, y = s);" END("a"),
     0.25, true, 1},
    {"another axis",
     OPERANDS PRODUCT(S " p", "x", "k", "true") S
     " w = softmax(axis = int32(1), x = p);" PRODUCT(X " y", "w", "u", "false"),
     0, false, 0},
    {"a softmax that is read twice",
     OPERANDS PRODUCT(S " p", "x", "k", "true") S
     " w = softmax(axis = int32(-1), x = p); " X " z = matmul(transpose_x = bool(false), transpose_y = bool(false), "
     "x = w, y = x); " PRODUCT(X " o", "w", "u", "false") X " y = add(x = o, y = z);",
     0, false, 0},
};

static void test_attention_is_recognized_however_it_is_written(void)
{
    for (size_t k = 0; k < sizeof attentions / sizeof *attentions; k++) {
        const struct attention_case *c = &attentions[k];
        float y[COUNT] = {0};
        double wanted[COUNT];
        seen_passes seen = {0};
        attend(c->scale, c->masked, wanted);
        if (run_case(c->body, NULL, &seen, y)) {
            check_note(seen.hits[MW__RULE_spelled_attention] == c->hits, __FILE__, __LINE__, "%s: %zu hits", c->what,
                       seen.hits[MW__RULE_spelled_attention]);
            if (c->hits > 0)
                check_elements(c->what, y, wanted);
        }
        seen_deinit(&seen);
    }
}

int main(void)
{
    RUN(test_norms_are_recognized_however_they_are_written);
    RUN(test_a_layer_norm_of_two_differences);
    RUN(test_what_is_no_layer_norm_is_left);
    RUN(test_weights_behind_a_layer_norm_are_its_own);
    RUN(test_attention_is_recognized_however_it_is_written);
    return check_finish();
}
