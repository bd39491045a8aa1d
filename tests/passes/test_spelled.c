/* Operations that a model spells from parts (the rows spelled_* of passes/rewrites.def): every way to write one, with
 * operands on either side and constants of each form, is recognized and computes what the function is in double
 * precision; what is nearly one is left, and computes what it says. */
#include "compiled.h"
#include "expression.h"
#include "support/check.h"
#include "support/on_engine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 21, TEXT = 8192 };

/* ---- running ---- */

static mw_graph *graph_of(const char *body, const char *outputs, mw_error *err)
{
    char text[TEXT];
    snprintf(text, sizeof text, "program(1.3)\n{func main<ios18>(tensor<fp32, [3, 7]> x) {%s} -> (%s);}", body,
             outputs);
    return mw_graph_parse_mil(text, strlen(text), NULL, NULL, err);
}

/* Numbers of both signs, small ones and some beyond where pieces end. */
static float input_at(size_t i)
{
    static const float numbers[COUNT] = {-9.5f, -6.0f, -4.25f, -3.0f,  -2.5f, -1.75f, -1.0f, -0.5f, -0.1f, -1e-3f, 0.0f,
                                         1e-3f, 0.1f,  0.5f,   1.125f, 1.75f, 2.5f,   3.0f,  4.25f, 6.0f,  9.5f};
    return numbers[i];
}

static bool run_body(const char *body, const char *outputs, seen_passes *seen, float y[COUNT])
{
    mw_error err = {0};
    float x[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        x[i] = input_at(i);
    mw_graph *graph = graph_of(body, outputs, &err);
    mw_program *program = compiled_for(graph, MW_DEVICE_CPU, MW_CHIP_AUTO, NULL, seen, &err);
    mw_program_write(program, "x", MW_F32, x, COUNT, &err);
    mw_program_run(program, &err);
    mw_program_read(program, "y", MW_F32, y, COUNT, &err);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
    return check_note(err.status == MW_OK, __FILE__, __LINE__, "%s in %s", err.message, body);
}

static size_t hits_of(const seen_passes *seen)
{
    size_t hits = 0;
    for (mw__rule_id id = MW__RULE_FIRST_REWRITE; id < MW__RULE_FIRST_PATTERN; id++)
        if (strncmp(mw__pass_rule_of(id)->name, "spelled_", 8) == 0)
            hits += seen->hits[id];
    return hits;
}

/* ---- the functions ---- */

static double sigmoid_of(double x) { return 1 / (1 + exp(-x)); }
static double silu_of(double x) { return x / (1 + exp(-x)); }
static double gelu_of(double x) { return 0.5 * x * erfc(-x / sqrt(2.0)); }
static double gelu_tanh_of(double x) { return 0.5 * x * (1 + tanh(sqrt(2 / acos(-1.0)) * (x + 0.044715 * x * x * x))); }
static double gelu_sigmoid_of(double x) { return x / (1 + exp(-1.702 * x)); }
static double softplus_of(double x) { return fmax(x, 0) + log1p(exp(-fabs(x))); }
static double hard_sigmoid_of(double x) { return fmin(fmax(x / 6 + 0.5, 0), 1); }
static double hard_swish_of(double x) { return x * hard_sigmoid_of(x); }
static double mish_of(double x) { return x * tanh(softplus_of(x)); }

typedef struct spelling {
    const char *row;
    double (*at)(double x);
    const char *text;
} spelling;

static const spelling spellings[] = {
    {"spelled_sigmoid", sigmoid_of, "real_div(1, add(1, exp(mul(x, -1))))"},
    {"spelled_sigmoid", sigmoid_of, "inverse(add(1, exp(sub(0, x))))"},
    {"spelled_sigmoid", sigmoid_of, "real_div(exp(x), add(exp(x), 1))"},
    {"spelled_sigmoid", sigmoid_of, "mul(0.5, add(1, tanh(mul(x, 0.5))))"},
    {"spelled_silu", silu_of, "mul(x, sigmoid(x))"},
    {"spelled_silu", silu_of, "real_div(x, add(1, exp(mul(-1, x))))"},
    {"spelled_silu", silu_of, "mul(x, real_div(1, add(1, exp(sub(0, x)))))"},
    {"spelled_gelu", gelu_of, "mul(mul(x, add(erf(real_div(x, 1.41421354)), 1)), 0.5)"},
    {"spelled_gelu", gelu_of, "mul(mul(x, 0.5), add(1, erf(mul(x, 0.707106769))))"},
    {"spelled_gelu", gelu_of, "mul(x, mul(0.5, add(1, erf(real_div(x, 1.41421354)))))"},
    {"spelled_gelu", gelu_of, "real_div(mul(x, add(1, erf(mul(x, 0.707106769)))), 2)"},
    {"spelled_gelu", gelu_of, "mul(x, add(0.5, mul(0.5, erf(mul(x, 0.707106769)))))"},
    {"spelled_gelu", gelu_tanh_of,
     "mul(mul(0.5, x), add(1, tanh(mul(0.797884583, add(x, mul(0.0447149985, pow(x, 3)))))))"},
    {"spelled_gelu", gelu_tanh_of,
     "mul(0.5, mul(x, add(1, tanh(mul(mul(x, 0.797884583), add(1, mul(0.0447149985, mul(x, x))))))))"},
    {"spelled_gelu", gelu_tanh_of,
     "mul(mul(0.5, x), add(1, tanh(mul(add(x, mul(0.0447149985, mul(square(x), x))), 0.797884583))))"},
    {"spelled_gelu", gelu_sigmoid_of, "mul(x, sigmoid(mul(x, 1.702)))"},
    {"spelled_softplus", softplus_of, "log(add(1, exp(x)))"},
    {"spelled_softplus", softplus_of, "add(relu(x), log(add(1, exp(sub(0, abs(x))))))"},
    {"spelled_hard", hard_sigmoid_of, "real_div(relu6(add(x, 3)), 6)"},
    {"spelled_hard", hard_sigmoid_of, "minimum(maximum(add(mul(x, 0.166666672), 0.5), 0), 1)"},
    {"spelled_hard", hard_swish_of, "mul(x, real_div(relu6(add(x, 3)), 6))"},
    {"spelled_hard", hard_swish_of, "real_div(mul(x, minimum(maximum(add(x, 3), 0), 6)), 6)"},
    {"spelled_hard", hard_swish_of, "mul(mul(x, relu6(add(x, 3))), 0.166666672)"},
    {"spelled_mish", mish_of, "mul(x, tanh(log(add(1, exp(x)))))"},
    {"spelled_mish", mish_of, "mul(x, real_div(sub(square(add(1, exp(x))), 1), add(square(add(1, exp(x))), 1)))"},
};

static void check_values(const char *what, const float y[COUNT], const double wanted[COUNT])
{
    for (size_t i = 0; i < COUNT; i++)
        check_note(fabs((double)y[i] - wanted[i]) <= 2e-6 * (1 + fabs(wanted[i])), __FILE__, __LINE__,
                   "%s: at %g it is %.9g, not %.9g", what, (double)input_at(i), (double)y[i], wanted[i]);
}

static void check_writing(const spelling *s, const expression *e, unsigned turned, int form)
{
    float y[COUNT] = {0};
    double wanted[COUNT];
    char body[TEXT], what[300];
    seen_passes seen = {0};
    const mw__rule_id row = mw__pass_rule_find(s->row, strlen(s->row));
    expression_write(e, turned, form, body, sizeof body);
    snprintf(what, sizeof what, "%s, turned %x, constants %d", s->text, turned, form);
    for (size_t i = 0; i < COUNT; i++)
        wanted[i] = s->at((double)input_at(i));
    if (run_body(body, "y", &seen, y)) {
        check_note(seen.hits[row] == 1 && hits_of(&seen) == 1, __FILE__, __LINE__, "%s: %zu hits of %s, %zu of all",
                   what, seen.hits[row], s->row, hits_of(&seen));
        check_values(what, y, wanted);
    }
    seen_deinit(&seen);
}

static void test_every_way_to_spell_one_is_recognized(void)
{
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
        expression e;
        if (!expression_parse(spellings[i].text, &e))
            continue;
        for (unsigned turned = 0; turned < 1u << e.pairs; turned++)
            check_writing(&spellings[i], &e, turned, (int)(turned % EXPRESSION_FORMS));
        for (int form = 0; form < EXPRESSION_FORMS; form++)
            check_writing(&spellings[i], &e, 0, form);
    }
}

/* ---- what is nearly one ---- */

static const char *const near_ones[] = {
    "mul(mul(x, add(erf(real_div(x, 1.4142)), 1)), 0.5)",
    "mul(mul(x, add(erf(real_div(x, 1.5)), 1)), 0.5)",
    "mul(mul(x, add(erf(real_div(x, 1.41421354)), 1)), 0.501)",
    "mul(mul(x, add(erf(real_div(x, 1.41421354)), 1.001)), 0.5)",
    "mul(mul(0.5, x), add(1, tanh(mul(0.797884583, add(x, mul(0.0447, pow(x, 3)))))))",
    "mul(mul(0.5, x), add(1, tanh(mul(0.797884583, add(x, mul(0.0447149985, pow(x, 2)))))))",
    "mul(x, sigmoid(mul(x, 1.7)))",
    "mul(x, sigmoid(add(x, 0.001)))",
    "mul(abs(x), sigmoid(x))",
    "real_div(1, add(1.001, exp(mul(x, -1))))",
    "log(add(1.001, exp(x)))",
    "real_div(relu6(add(x, 3)), 6.01)",
    "minimum(maximum(add(mul(x, 0.2), 0.5), 0), 1)",
    "minimum(maximum(add(mul(x, 0.166666672), 0.5), 0), 0.999)",
    "mul(x, minimum(maximum(add(x, 3), 0), 6))",
    "mul(x, tanh(log(add(1.01, exp(x)))))",
    "minimum(mul(x, tanh(softplus(x))), 50)",
};

static void test_what_is_nearly_one_is_left(void)
{
    for (size_t k = 0; k < sizeof near_ones / sizeof *near_ones; k++) {
        expression e;
        float y[COUNT] = {0};
        double wanted[COUNT];
        char body[TEXT];
        seen_passes seen = {0};
        if (!expression_parse(near_ones[k], &e))
            continue;
        expression_write(&e, 0, 0, body, sizeof body);
        for (size_t i = 0; i < COUNT; i++)
            wanted[i] = expression_at(&e, (double)input_at(i));
        if (run_body(body, "y", &seen, y)) {
            check_note(hits_of(&seen) == 0, __FILE__, __LINE__, "%s is recognized", near_ones[k]);
            check_values(near_ones[k], y, wanted);
        }
        seen_deinit(&seen);
    }
}

/* A piece that ends where no sample lies: silu up to 200000. */
static void test_a_piece_that_ends_far_away_is_no_part_of_a_function(void)
{
    float y[COUNT] = {0};
    seen_passes seen = {0};
    run_body("tensor<fp32, [3, 7]> c = clip(alpha = fp32(-200000), beta = fp32(200000), x = x);"
             "tensor<fp32, [3, 7]> e = erf(x = c); tensor<fp32, [3, 7]> s = sigmoid(x = x);"
             "tensor<fp32, [3, 7]> p = mul(x = c, y = s); tensor<fp32, [3, 7]> y = add(x = p, y = e);",
             "y", &seen, y);
    CHECK(hits_of(&seen) == 0);
    seen_deinit(&seen);
    seen = (seen_passes){0};
    run_body("tensor<fp32, [3, 7]> s = sigmoid(x = x); tensor<fp32, [3, 7]> c = clip(alpha = fp32(-200000), beta = "
             "fp32(200000), x = x); tensor<fp32, [3, 7]> y = mul(x = c, y = s);",
             "y", &seen, y);
    CHECK(hits_of(&seen) == 0);
    seen_deinit(&seen);
}

/* ---- what others read ---- */

static void test_what_others_read_is_left(void)
{
    static const char *const body =
        "tensor<fp32, [3, 7]> d = real_div(x = x, y = fp32(1.41421354)); tensor<fp32, [3, 7]> e = erf(x = d);"
        "tensor<fp32, [3, 7]> s = add(x = e, y = fp32(1)); tensor<fp32, [3, 7]> m = mul(x = x, y = s);"
        "tensor<fp32, [3, 7]> y = mul(x = m, y = fp32(0.5));";
    static const char *const outputs[] = {"y, d", "y, e", "y, s", "y, m"};
    double wanted[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        wanted[i] = gelu_of((double)input_at(i));
    for (size_t k = 0; k < sizeof outputs / sizeof *outputs; k++) {
        float y[COUNT] = {0};
        seen_passes seen = {0};
        if (run_body(body, outputs[k], &seen, y)) {
            check_note(hits_of(&seen) == 0, __FILE__, __LINE__, "%s: it is recognized", outputs[k]);
            check_values(outputs[k], y, wanted);
        }
        seen_deinit(&seen);
    }
}

/* The argument itself may have other readers. */
static void test_others_may_read_the_argument(void)
{
    float y[COUNT] = {0};
    seen_passes seen = {0};
    run_body("tensor<fp32, [3, 7]> a = abs(x = x); tensor<fp32, [3, 7]> s = sigmoid(x = a);"
             "tensor<fp32, [3, 7]> y = mul(x = a, y = s);",
             "y, a", &seen, y);
    CHECK(seen.hits[MW__RULE_spelled_silu] == 1);
    for (size_t i = 0; i < COUNT; i++)
        CHECK(fabs((double)y[i] - silu_of(fabs((double)input_at(i)))) <= 1e-5);
    seen_deinit(&seen);
}

/* ---- elsewhere ---- */

static void test_the_model_of_the_ane_keeps_the_parts(void)
{
    mw_error err = {0};
    seen_passes seen = {0};
    mw_graph *graph =
        graph_of("tensor<fp32, [3, 7]> s = sigmoid(x = x); tensor<fp32, [3, 7]> y = mul(x = x, y = s);", "y", &err);
    mw_program *program = compiled_for(graph, MW_DEVICE_ANE, MW_CHIP_AUTO, NULL, &seen, &err);
    CHECK_OK(err);
    CHECK(hits_of(&seen) == 0);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
    seen_deinit(&seen);
}

int main(void)
{
    RUN(test_every_way_to_spell_one_is_recognized);
    RUN(test_what_is_nearly_one_is_left);
    RUN(test_a_piece_that_ends_far_away_is_no_part_of_a_function);
    RUN(test_what_others_read_is_left);
    RUN(test_others_may_read_the_argument);
    RUN(test_the_model_of_the_ane_keeps_the_parts);
    return check_finish();
}
