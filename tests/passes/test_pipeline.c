/* Every pass and analysis of passes/pipeline.def: one that may be left out has a program on which it does something,
 * and without it the report says that nothing changed and the numbers are the same, or the device refuses the program
 * by a message; one that is required is refused by its name. No invariant is broken on the way. */
#include "compiled.h"
#include "engine/kernels/gemm/blas.h"
#include "support/check.h"
#include "support/failing.h"
#include "support/on_engine.h"

#include <stdlib.h>

enum { LONG = 20000 }; /* more than an axis has on a chip before MW_CHIP_H16 */

/* What the text passes need is the case of a rewrite; steps have a program of their own, for the CPU. */
typedef struct pass_case {
    const char *pass;
    const char *rewrite; /* whose case it is, on the model of the ANE; NULL: `own` on the CPU */
    rewrite_case own;
} pass_case;

#define TANH(from, to) "tensor<fp32, [64, 256]> " #to " = tanh(x = " #from ");"
#define TANHS(from, to)                                                                                                \
    TANH(from, to##b)                                                                                                  \
    TANH(to##b, to##c)                                                                                                 \
    TANH(to##c, to##d)                                                                                                 \
    TANH(to##d, to##e)                                                                                                 \
    TANH(to##e, to##f) TANH(to##f, to##g) TANH(to##g, to##h) TANH(to##h, to##i) TANH(to##i, to##j) TANH(to##j, to)

static const pass_case cases[] = {
    {.pass = "decompose", .rewrite = "cosh"},
    {.pass = "parts", .rewrite = "sum"},
    {.pass = "blocks", .rewrite = "elementwise"},
    {.pass = "digits", .rewrite = "offset"},
    {.pass = "fit", .rewrite = "concat_one"},
    {.pass = "recognize",
     .own = {.inputs = "tensor<fp32, [64]> x",
             .body = "tensor<fp32, [64]> s = sigmoid(x = x); tensor<fp32, [64]> y = mul(x = x, y = s);"}},
    {.pass = "absorb",
     .own = {.inputs = "tensor<fp32, [2, 3, 4]> x",
             .body = "tensor<fp32, [4, 2, 3]> t = transpose(perm = tensor<int32, [3]>([2, 0, 1]), x = x);"
                     "tensor<fp32, [3, 2, 4]> y = transpose(perm = tensor<int32, [3]>([2, 1, 0]), x = t);"}},
    {.pass = "patterns",
     .own = {.inputs = "tensor<fp32, [2, 16, 8, 8]> x",
             .body = "tensor<fp32, [2, 16, 8, 8]> r = relu(x = x);"
                     "tensor<fp32, [2, 16, 4, 4]> y = max_pool(ceil_mode = bool(false), kernel_sizes = tensor<int32, "
                     "[2]>([2, 2]), pad = tensor<int32, [4]>([0, 0, 0, 0]), pad_type = string(\"valid\"), strides = "
                     "tensor<int32, [2]>([2, 2]), x = r);"}},
    {.pass = "fold",
     .own = {.inputs = "tensor<fp32, [3]> x",
             .body = "tensor<fp32, [3]> c = const()[val = tensor<fp32, [3]>([1, 2, 3])];"
                     "tensor<fp32, [3]> e = exp(x = c); tensor<fp32, [3]> y = mul(x = x, y = e);"}},
    {.pass = "defer", /* of 1.3 MB, and 37 KB of factors */
     .own = {.inputs = "tensor<fp32, [8, 640]> a, tensor<fp32, [8, 512]> b, tensor<fp32, [640, 512]> w",
             .body = "tensor<fp32, [8, 640]> c = mul(x = a, y = fp32(2)); tensor<fp32, [8, 512]> d = mul(x = b, y = "
                     "fp32(2)); tensor<fp32, [640, 512]> p = matmul(transpose_x = bool(true), transpose_y = "
                     "bool(false), x = c, y = d);"
                     "tensor<fp32, [640, 512]> m = abs(x = p); tensor<bool, [640, 512]> l = less_equal(x = m, y = "
                     "fp32(1000));"
                     "tensor<fp32, [640, 512]> s = select(a = fp32(1), b = fp32(0), cond = l);"
                     "fp32 g = reduce_min(axes = tensor<int32, [2]>([0, 1]), keep_dims = bool(false), x = s);"
                     "bool f = greater(x = g, y = fp32(0.5)); tensor<fp32, [640, 512]> n = sub(x = w, y = p);"
                     "tensor<fp32, [640, 512]> y = select(a = n, b = w, cond = f);"}},
    {.pass = "redo", /* t is read again behind 40 steps */
     .own = {.inputs = "tensor<fp32, [64, 256]> x",
             .body =
                 "tensor<fp32, [64, 256]> t = add(x = x, y = fp32(1)); tensor<fp32, [64, 256]> a0 = tanh(x = t);" TANHS(
                     a0, a1) TANHS(a1, a2) TANHS(a2, a3)
                     TANHS(a3, a4) "tensor<fp32, [64, 256]> y = mul(x = a4, y = t);"}},
    {.pass = "tails",
     .own = {.inputs = "tensor<fp32, [1, 2, 8, 9]> x, tensor<fp32, [16, 2, 1, 1]> w",
             .body = "tensor<fp32, [1, 16, 8, 9]> c = conv(dilations = tensor<int32, [2]>([1, 1]), groups = int32(1), "
                     "pad = tensor<int32, [4]>([0, 0, 0, 0]), pad_type = string(\"valid\"), strides = tensor<int32, "
                     "[2]>([1, 1]), weight = w, x = x); tensor<fp32, [1, 16, 8, 9]> y = relu(x = c);"}},
    {.pass = "fuse",
     .own = {.inputs = "tensor<fp32, [64]> x",
             .body = "tensor<fp32, [64]> e = exp(x = x); tensor<fp32, [64]> s = add(x = x, y = e);"
                     "tensor<fp32, [64]> y = tanh(x = s);"}},
    {.pass = "sums",
     .own = {.inputs = "tensor<fp32, [64, 40]> x",
             .body = "tensor<fp32, [64, 40]> e = exp(x = x); tensor<fp32, [64, 40]> s = tanh(x = e);"
                     "tensor<fp32, [64]> y = reduce_sum(axes = tensor<int32, [1]>([1]), keep_dims = bool(false), x = "
                     "s);"}},
    {.pass = "chains",
     .own = {.inputs = "tensor<fp32, [64, 40]> x",
             .body =
                 "tensor<fp32, [64, 1]> m = reduce_mean(axes = tensor<int32, [1]>([1]), keep_dims = bool(true), x = "
                 "x); tensor<fp32, [64, 40]> d = sub(x = x, y = m); tensor<fp32, [64, 40]> y = mul(x = d, y = d);"}},
    {.pass = "unit_blocks",
     .own = {.inputs = "tensor<fp32, [131, 700]> x, tensor<fp32, [131, 700]> z",
             .body = "tensor<fp32, [131, 700]> s = add(x = x, y = z);"
                     "tensor<fp32, [131, 700]> p = softmax(axis = int32(1), x = s);"
                     "tensor<fp32, [131, 700]> t = tanh(x = p);"
                     "tensor<fp32, [131, 700]> y = softmax(axis = int32(1), x = t);"}},
};

static size_t pass_count(void) { return MW__RULE_FIRST_REWRITE - MW__RULE_NONE - 1; }

static mw__rule_id id_of(size_t pass) { return (mw__rule_id)(MW__RULE_NONE + 1 + pass); }

static bool is_required(mw__rule_id id) { return (mw__pass_rule_of(id)->flags & MW__RULE_REQUIRED) != 0; }

static const pass_case *case_of(mw__rule_id id)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (strcmp(cases[i].pass, mw__pass_rule_of(id)->name) == 0)
            return &cases[i];
    return NULL;
}

static const rewrite_case *program_of(const pass_case *c)
{
    size_t i = 0;
    while (c->rewrite != NULL && rewrite_case_at(i) != NULL && strcmp(rewrite_case_at(i)->row, c->rewrite) != 0)
        i++;
    return c->rewrite != NULL ? rewrite_case_at(i) : &c->own;
}

static mw_graph *graph_of(const rewrite_case *c, mw_error *err)
{
    char text[REWRITE_TEXT];
    return CHECK(rewrite_case_text(c, LONG, text, sizeof text))
               ? mw_graph_parse_mil(text, strlen(text), NULL, NULL, err)
               : NULL;
}

/* ---- a pass that may be left out ---- */

/* Patterns are found in a pass that makes no step yet; an analysis is part of a pass, which then writes otherwise. */
static bool did_something(mw__rule_id id, const seen_passes *with, const seen_passes *without)
{
    bool found = false;
    for (size_t i = MW__RULE_FIRST_PATTERN; id == MW__RULE_patterns && i < MW__RULE_COUNT; i++)
        found = found || with->hits[i] > without->hits[i];
    const mw__rule_id pass = mw__pass_rule_of(id)->pass;
    return found || (with->changed[pass] && seen_differ(with, without));
}

static void check_seen(mw__rule_id id, const seen_passes *with, const seen_passes *without)
{
    const char *name = mw__pass_rule_of(id)->name;
    check_note(did_something(id, with, without), __FILE__, __LINE__, "%s does nothing in its case", name);
    check_note(!without->changed[id], __FILE__, __LINE__, "%s changes something though it is left out", name);
    check_note(with->broken == NULL, __FILE__, __LINE__, "%s: %s breaks its invariant", name, with->broken);
    check_note(without->broken == NULL, __FILE__, __LINE__, "without %s: %s breaks its invariant", name,
               without->broken);
}

/* On the CPU with all bits, by the program that has the pass; on the model of the ANE as near as the rewrite is. */
static void compare(const pass_case *c, const mw_graph *graph, mw_program *whole, mw_program *left)
{
    mw_error err = {0};
    seen_passes seen = {0};
    const rewrite_case *program = program_of(c);
    const bool half = c->rewrite != NULL;
    const compiled_bound bound = {.unit = 0x1p-10, .units = program->bound, .half = half};
    mw_program *source = half ? compiled_for(graph, MW_DEVICE_CPU, MW_CHIP_AUTO, NULL, &seen, &err) : NULL;
    CHECK_OK(err);
    compiled_compare(program, c->pass, half ? source : whole, left, &bound);
    mw_program_destroy(source);
    seen_deinit(&seen);
}

static void check_optional(const pass_case *c, mw__rule_id id)
{
    mw_error err = {0}, refused = {0};
    seen_passes with = {0}, without = {0};
    const rewrite_case *program = program_of(c);
    const mw_device device = c->rewrite != NULL ? MW_DEVICE_ANE : MW_DEVICE_CPU;
    mw_graph *graph = graph_of(program, &err);
    mw_program *whole = compiled_for(graph, device, program->chip, NULL, &with, &err);
    mw_program *left = compiled_for(graph, device, program->chip, c->pass, &without, &refused);
    check_note(err.status == MW_OK, __FILE__, __LINE__, "%s: %s", c->pass, err.message);
    check_seen(id, &with, &without);
    if (left != NULL && whole != NULL)
        compare(c, graph, whole, left);
    else
        check_note(device == MW_DEVICE_ANE && refused.status == MW_ERROR_UNSUPPORTED, __FILE__, __LINE__,
                   "without %s: %d %s", c->pass, (int)refused.status, refused.message);
    mw_program_destroy(left);
    mw_program_destroy(whole);
    mw_graph_destroy(graph);
    seen_deinit(&with);
    seen_deinit(&without);
}

static void test_every_optional_pass_does_something_and_can_be_left_out(void)
{
    for (size_t i = 0; i < pass_count(); i++) {
        const pass_case *c = case_of(id_of(i));
        if (is_required(id_of(i)))
            continue;
        check_note(c != NULL, __FILE__, __LINE__, "%s has no program here", mw__pass_rule_of(id_of(i))->name);
        if (c != NULL)
            check_optional(c, id_of(i));
    }
}

/* ---- one that may not ---- */

static void check_refused(const mw_graph *graph, const char *name)
{
    mw_error err = {0};
    seen_passes seen = {0};
    mw_program *program = compiled_for(graph, MW_DEVICE_CPU, MW_CHIP_AUTO, name, &seen, &err);
    CHECK(program == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, name);
    CHECK_CONTAINS(err.message, "cannot be left out");
    mw_program_destroy(program);
    seen_deinit(&seen);
}

static void test_every_required_pass_is_refused_by_its_name(void)
{
    mw_error err = {0};
    mw_graph *graph = graph_of(program_of(case_of(MW__RULE_fuse)), &err);
    CHECK_OK(err);
    for (size_t i = 0; i < pass_count(); i++)
        if (is_required(id_of(i)))
            check_refused(graph, mw__pass_rule_of(id_of(i))->name);
    mw_graph_destroy(graph);
}

/* ---- without memory ---- */

/* What is only told may be missing then; false once nothing has failed. */
static bool fail_at(const mw_graph *graph, long n)
{
    mw_error err = {0};
    seen_passes seen = {0};
    failing_allocator failing = {.fail_at = n};
    const mw_allocator allocator = failing_allocator_of(&failing);
    mw_compile_options options = engine_options(MW_DEVICE_ANE, 1);
    options.allocator = &allocator;
    options.passes = (mw_passes){.report = seen_report, .report_user = &seen, .why = "*", .texts = true};
    mw_program *program = mw_program_create(graph, &options, &err);
    check_note(program != NULL || (failing.failed && err.status == MW_ERROR_MEMORY), __FILE__, __LINE__,
               "allocation %ld: %d %s", n, (int)err.status, err.message);
    mw_program_destroy(program);
    CHECK_INT(failing.live, 0);
    seen_deinit(&seen);
    return failing.failed;
}

static void test_a_failed_allocation_leaves_nothing_while_passes_are_reported(void)
{
    mw_error err = {0};
    mw_graph *graph = graph_of(program_of(case_of(MW__RULE_decompose)), &err);
    CHECK_OK(err);
    long n = 0;
    while (n < 100000 && fail_at(graph, n))
        n += 1 + n / 64;
    check_note(n > 100 && n < 100000, __FILE__, __LINE__, "%ld allocations", n);
    mw_graph_destroy(graph);
}

/* A BLAS adds in an order of its own, and its products do not wait. */
int main(void)
{
    mw__blas_choose("none", NULL);
    RUN(test_every_optional_pass_does_something_and_can_be_left_out);
    RUN(test_every_required_pass_is_refused_by_its_name);
    RUN(test_a_failed_allocation_leaves_nothing_while_passes_are_reported);
    return check_finish();
}
