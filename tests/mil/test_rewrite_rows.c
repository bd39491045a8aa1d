/* Every row of passes/rewrites.def: the program of its case that it writes in another form, and what it writes. Axes
 * are at most 1024. What results are is tests/passes/test_rewrites.c. */
#include "mil/join/join.h"
#include "mil/legalize/legal_form.h"
#include "mil/legalize/rewrites.h"
#include "support/check.h"
#include "support/passes/rewrite_cases.h"

#include <millwright/mil.h>

enum { AXIS_MAX = 1024, LONG = 1300 };

/* The rows of x that indices choose. */
#define LOOKED_UP(name)                                                                                                \
    "tensor<fp32, [3, 1]> y = gather(axis = int32(0), batch_dims = int32(0), indices = " name                          \
    ", validate_indices = bool(false), x = x);"

static const rewrite_case more[] = {
    {.row = "half_scaled", /* a scale that fp16 has */
     .inputs = "tensor<fp32, [3]> x",
     .body = "tensor<fp32, [3]> w = constexpr_blockwise_shift_scale(data = tensor<int8, [3]>([1, -2, 100]), scale = "
             "tensor<fp32, [1]>([0.125])); tensor<fp32, [3]> y = add(x = x, y = w);",
     .operation = "constexpr_blockwise_shift_scale",
     .times = 1},
    {.row = "crop",
     .inputs = "tensor<fp32, [2, 3, 4, 5]> x, tensor<fp32, [1, 4]> b",
     .body = "tensor<fp32, [1, 3, 1, 1]> y = crop_resize(boxes = b, x = x);",
     .error = "rewrite crop did not apply, which wants boxes that are constants"},
    {.row = "drawn",
     .inputs = "tensor<fp32, [3]> x",
     .body = "tensor<fp32, [3]> z = random_normal(mean = fp32(0), seed = int32(-1), shape = tensor<int32, [1]>([3]), "
             "stddev = fp32(1)); tensor<fp32, [3]> y = add(x = x, y = z);",
     .error = "rewrite drawn did not apply, which wants a fixed seed"},
    {.row = "gather",
     .inputs = "tensor<int32, [3]> i, tensor<fp32, [3000, 1]> x",
     .body = "tensor<int32, [3]> j = mul(x = i, y = int32(2));" LOOKED_UP("j"),
     .error = "rewrite gather did not apply, which wants indices that come from an input by sums, limits"},
};

static int count(const char *text, const char *operation)
{
    int times = 0;
    char wanted[100];
    snprintf(wanted, sizeof wanted, strchr(operation, '(') != NULL ? " = %s" : " = %s(", operation);
    for (const char *at = text; (at = strstr(at, wanted)) != NULL; at += strlen(wanted))
        times++;
    return times;
}

static mw_graph *parse(const rewrite_case *c, mw_error *err)
{
    char text[REWRITE_TEXT];
    return CHECK(rewrite_case_text(c, LONG, text, sizeof text))
               ? mw_graph_parse_mil(text, strlen(text), NULL, NULL, err)
               : NULL;
}

/* Decomposed and in parts if anything is, then legal; freed with mw_string_free. */
static char *rewrite(const rewrite_case *c, mw_error *err)
{
    bool any = false, parts_any = false;
    char *result = NULL;
    mw_graph *from = parse(c, err);
    mw_graph *decomposed = mw_graph_create(NULL, NULL), *parts = mw_graph_create(NULL, NULL),
             *to = mw_graph_create(NULL, NULL);
    const mw__device_traits *ane = mw__device_find(MW_DEVICE_ANE);
    if (from != NULL && mw_graph_verify(from, err) == MW_OK &&
        mw__mil_decompose(from, decomposed, &(mw__legality){.device = ane}, NULL, &any, err) == MW_OK &&
        mw__mil_split(any ? decomposed : from, parts, &(mw__split_options){.axis_max = AXIS_MAX}, &parts_any, err) ==
            MW_OK &&
        mw__mil_legalize(parts_any ? parts
                         : any     ? decomposed
                                   : from,
                         to, ane, err) == MW_OK)
        result = mw_graph_print_mil(to, NULL, err);
    mw_graph_destroy(to);
    mw_graph_destroy(decomposed);
    mw_graph_destroy(parts);
    mw_graph_destroy(from);
    return result;
}

/* All forms for the chip that is named, held to its rows. */
static char *rewrite_for(const rewrite_case *c, mw_error *err)
{
    mw__legal_form form = {0};
    mw_graph *from = parse(c, err);
    const mw__legal_options how = {.device = mw__device_find(MW_DEVICE_ANE), .chip = mw__chip_find(c->chip)};
    char *result =
        from != NULL && mw_graph_verify(from, err) == MW_OK && mw__legal_form_make(from, &how, &form, err) == MW_OK
            ? mw_graph_print_mil(form.graph, NULL, err)
            : NULL;
    mw__legal_form_deinit(&form);
    mw_graph_destroy(from);
    return result;
}

/* By the engine's own rows. */
static char *join_ops(const rewrite_case *c, mw__rule_id pass, mw_error *err)
{
    char *result = NULL;
    mw__function *made = NULL;
    mw_graph *from = parse(c, err), *to = mw_graph_create(NULL, NULL);
    const mw__legality cpu = {.device = mw__device_find(MW_DEVICE_CPU)};
    const mw__join_options how = {.pass = pass, .legality = &cpu};
    if (from != NULL && mw_graph_verify(from, err) == MW_OK &&
        mw__join_function(mw__graph_main(from), &how, to, &made, err) == MW_OK && CHECK(made != NULL))
        result = mw_graph_print_mil(to, NULL, err);
    mw_graph_destroy(to);
    mw_graph_destroy(from);
    return result;
}

static char *write_case(const rewrite_case *c, mw_error *err)
{
    const mw__rule_id pass = mw__pass_rule_of(mw__pass_rule_find(c->row, strlen(c->row)))->pass;
    if (pass == MW__RULE_recognize || pass == MW__RULE_absorb)
        return join_ops(c, pass, err);
    return c->chip != MW_CHIP_AUTO ? rewrite_for(c, err) : rewrite(c, err);
}

static void check_case(const rewrite_case *c)
{
    mw_error err = {0};
    char *text = write_case(c, &err);
    if (c->error != NULL) {
        CHECK_CONTAINS(err.message, c->error);
    } else if (CHECK_OK(err)) {
        const int times = count(text, c->operation);
        check_note(times == c->times, __FILE__, __LINE__, "%s: %d of %s, not %d, in %s", c->row, times, c->operation,
                   c->times, text);
    }
    mw_string_free(text);
}

static void test_every_row_writes_its_case(void)
{
    for (size_t i = 0; rewrite_case_at(i) != NULL; i++)
        check_case(rewrite_case_at(i));
}

static void test_what_rows_leave(void)
{
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        check_case(&more[i]);
}

static void test_every_row_has_a_case(void)
{
    size_t i = 0;
    for (; MW__RULE_BEFORE_REWRITES + 1 + i < MW__RULE_FIRST_PATTERN; i++) {
        const mw__rule *rule = mw__pass_rule_of((mw__rule_id)(MW__RULE_BEFORE_REWRITES + 1 + i));
        const rewrite_case *c = rewrite_case_at(i);
        check_note(c != NULL && strcmp(c->row, rule->name) == 0, __FILE__, __LINE__, "no case of row %s in its place",
                   rule->name);
    }
    CHECK(rewrite_case_at(i) == NULL);
}

int main(void)
{
    RUN(test_every_row_writes_its_case);
    RUN(test_what_rows_leave);
    RUN(test_every_row_has_a_case);
    return check_finish();
}
