/* What makes 0 of large numbers on the ANE is written otherwise; where that is left out, or the form is another, it is
 * said when it is compiled. What is bounded, or added in fp32, is not. */
#include "support/check.h"
#include "support/failing.h"

#include <millwright/millwright.h>

enum { COUNT = 8 };

static mw_tensor *mean_square(mw_tensor *x) { return mw_reduce_mean(mw_mul(x, x), MW_AXES(0), true); }

static mw_tensor *two(mw_tensor *x) { return mw_scalar(mw_tensor_graph(x), MW_F32, 2.0); }

static mw_tensor *minus_half(mw_tensor *x) { return mw_scalar(mw_tensor_graph(x), MW_F32, -0.5); }

static mw_tensor *exponential_share(mw_tensor *x)
{
    mw_tensor *e = mw_exp(x);
    return mw_real_div(e, mw_reduce_sum(e, MW_AXES(0), true));
}

/* ---- what is written otherwise, and warned of where it is not ---- */

static mw_tensor *make_softplus(mw_tensor *x) { return mw_softplus(x); }
static mw_tensor *make_mish(mw_tensor *x) { return mw_mul(x, mw_tanh(mw_softplus(x))); }
static mw_tensor *make_rms(mw_tensor *x) { return mw_rms_norm(x, MW_AXES(0), NULL, 1e-3f); }
static mw_tensor *make_rms_layer(mw_tensor *x) { return mw_rms_norm_layer(x, 1, 1e-3f, "norm"); }
static mw_tensor *make_root(mw_tensor *x) { return mw_real_div(x, mw_sqrt(mw_add_scalar(mean_square(x), 1e-3))); }
static mw_tensor *make_power(mw_tensor *x)
{
    mw_tensor *squares = mw_pow(x, two(x));
    return mw_mul(x, mw_pow(mw_reduce_sum(squares, MW_AXES(0), true), minus_half(x)));
}
static mw_tensor *make_sum_square(mw_tensor *x)
{
    mw_tensor *sum = mw_reshape(mw_reduce_sum_square(x, MW_AXES(0), true), MW_SHAPE(1, 1));
    return mw_mul(x, mw_reshape(mw_inverse(mw_sqrt(sum), 1e-3f), MW_SHAPE(1)));
}
static mw_tensor *make_centered(mw_tensor *x)
{
    mw_tensor *centered = mw_sub(x, mw_reduce_mean(x, MW_AXES(0), true));
    return mw_mul(centered, mw_rsqrt(mw_reduce_mean(mw_square(centered), MW_AXES(0), true), 1e-3f));
}

static mw_tensor *make_log1p(mw_tensor *x) /* e^x has a second reader, so that it is rounded */
{
    mw_tensor *e = mw_exp(x), *one = mw_scalar(mw_tensor_graph(x), MW_F32, 1.0);
    return mw_add(mw_log(mw_add(e, one), 0.0f), mw_real_div(one, e));
}
static mw_tensor *make_log_sum(mw_tensor *x) { return mw_log(mw_reduce_sum(mw_exp(x), MW_AXES(0), true), 0.0f); }
static mw_tensor *make_square_share(mw_tensor *x)
{
    return mw_mul_scalar(mw_real_div(x, mw_add_scalar(mw_square(x), 1.0)), 100.0);
}

/* ---- what is not ---- */

static mw_tensor *make_low_softplus(mw_tensor *x) { return mw_softplus(mw_minimum(x, two(x))); }
static mw_tensor *make_even_softplus(mw_tensor *x) { return mw_softplus(mw_neg(mw_abs(x))); }
static mw_tensor *make_rms_of_tanh(mw_tensor *x)
{
    return mw_rms_norm(mw_mul_scalar(mw_tanh(x), 100.0), MW_AXES(0), NULL, 1e-3f);
}
static mw_tensor *make_rms_of_clip(mw_tensor *x)
{
    return mw_rms_norm(mw_clip(x, -200.0f, 200.0f), MW_AXES(0), NULL, 1e-3f);
}
static mw_tensor *make_layer_norm(mw_tensor *x) { return mw_layer_norm(x, MW_AXES(0), NULL, NULL, 1e-3f); }
static mw_tensor *make_l2(mw_tensor *x) { return mw_real_div(x, mw_reduce_l2_norm(x, MW_AXES(0), true)); }
static mw_tensor *make_joined(mw_tensor *x) /* the root is taken before the sum is rounded */
{
    mw_tensor *mean = mw_add_scalar(mw_mul_scalar(mw_reduce_sum_square(x, MW_AXES(0), true), 0.125), 1e-3);
    return mw_real_div(x, mw_sqrt(mean));
}
static mw_tensor *make_joined_log(mw_tensor *x) { return mw_log(mw_add_scalar(mw_exp(x), 1.0), 0.0f); }
static mw_tensor *make_softmax(mw_tensor *x) { return mw_softmax(x, 0); }
static mw_tensor *make_safe_share(mw_tensor *x)
{
    return exponential_share(mw_sub(x, mw_reduce_max(x, MW_AXES(0), true)));
}
static mw_tensor *make_square(mw_tensor *x) { return mw_square(x); } /* its infinity is seen */
static mw_tensor *make_logistic(mw_tensor *x)
{
    return mw_inverse(mw_add_scalar(mw_exp(mw_neg(x)), 1.0), 1e-6f); /* 1 / inf is what it should be */
}

#define SQUARES "root_of_squares,norm_of_squares"

typedef struct form {
    const char *name;
    mw_tensor *(*make)(mw_tensor *x);
    float x;         /* of all elements, every other one negative: plain it is 0 there on the ANE; 0 = safe */
    const char *off; /* the rewrites without which it is plain; NULL = there is none */
    const char *says;
} form;

static const form forms[] = {
    {"softplus", make_softplus, 20.0f, "softplus", "softplus \"y\": from x = 11.09 on"},
    {"mish", make_mish, 20.0f, "softplus", "from x = 11.09 on"},
    {"rms_norm", make_rms, 300.0f, SQUARES, "the square of a number beyond 255.9"},
    {"rms_norm_layer", make_rms_layer, 300.0f, SQUARES, "the square of a number beyond 255.9"},
    {"x / sqrt(mean(x x) + e)", make_root, 300.0f, SQUARES, "the square of a number beyond 255.9"},
    {"x sum(x^2)^-0.5", make_power, 300.0f, SQUARES, "the square of a number beyond 255.9"},
    {"layer norm by hand", make_centered, 300.0f, SQUARES, "the square of a number beyond 255.9"},
    {"e^x / sum e^x", exponential_share, 20.0f, "softmax_by_hand", "e^x is infinite in fp16 from x = 11.09 on"},
    {"log(1 + e^x)", make_log1p, 20.0f, "softplus_by_hand", "e^x is infinite in fp16 from x = 11.09 on"},
    {"log(sum e^x)", make_log_sum, 20.0f, "log_of_exponentials", "e^x is infinite in fp16 from x = 11.09 on"},
    {"x / sqrt(reduce_sum_square), reshaped", make_sum_square, 300.0f, NULL, "the square of a number beyond 255.9"},
    {"x / (x^2 + 1)", make_square_share, 300.0f, NULL, "the square of a number beyond 255.9"},
    {"softplus(min(x, 2))", make_low_softplus, 0, NULL, NULL},
    {"softplus(-|x|)", make_even_softplus, 0, NULL, NULL},
    {"rms_norm(100 tanh)", make_rms_of_tanh, 0, NULL, NULL},
    {"rms_norm(clip)", make_rms_of_clip, 0, NULL, NULL},
    {"layer_norm", make_layer_norm, 0, NULL, NULL},
    {"x / reduce_l2_norm", make_l2, 0, NULL, NULL},
    {"x / sqrt(reduce_sum_square / n + e)", make_joined, 0, NULL, NULL},
    {"log(1 + e^x), joined", make_joined_log, 0, NULL, NULL},
    {"softmax", make_softmax, 0, NULL, NULL},
    {"e^(x - max) / sum", make_safe_share, 0, NULL, NULL},
    {"square", make_square, 0, NULL, NULL},
    {"1 / (1 + e^-x)", make_logistic, 0, NULL, NULL},
};
enum { FORMS = sizeof forms / sizeof *forms };

static mw_program *compile(const form *f, mw_device device, mw_chip chip, const char *profile, const char *off,
                           mw_error *err)
{
    mw_compile_options options = mw_compile_defaults();
    options.device = device;
    options.provider = MW_PROVIDER_ENGINE;
    options.chip = chip;
    options.profile = profile;
    options.passes.off = off;
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_output(f->make(mw_input(graph, "x", MW_F32, MW_SHAPE(COUNT))), "y");
    mw_program *program = mw_program_create(graph, &options, err);
    mw_graph_destroy(graph);
    return program;
}

static size_t result_count(const mw_program *program)
{
    mw_port port;
    for (size_t i = 0; mw_program_port_at(program, i, &port); i++)
        if (port.is_output)
            return (size_t)mw_shape_count(port.shape);
    return 0;
}

/* The first element of the result. */
static float first_of(const form *f, mw_device device, const char *off, mw_error *err)
{
    float x[COUNT], y[COUNT] = {0};
    for (int i = 0; i < COUNT; i++)
        x[i] = i % 2 == 0 ? f->x : -f->x;
    mw_program *program = compile(f, device, MW_CHIP_AUTO, NULL, off, err);
    mw_program_write(program, "x", MW_F32, x, COUNT, err);
    mw_program_run(program, err);
    mw_program_read(program, "y", MW_F32, y, result_count(program), err);
    mw_program_destroy(program);
    return y[0];
}

static void check_warnings(const form *f, const char *off, bool wanted)
{
    mw_error err = {0};
    mw_warning warning = {0};
    mw_program *program = compile(f, MW_DEVICE_ANE, MW_CHIP_AUTO, NULL, off, &err);
    const size_t count = mw_program_get_info(program).warning_count;
    check_note(err.status == MW_OK && count == wanted, __FILE__, __LINE__, "%s: %zu warnings. %s", f->name, count,
               err.message);
    if (mw_program_warning_at(program, 0, &warning)) {
        check_note(f->says != NULL && strstr(warning.message, f->says) != NULL, __FILE__, __LINE__, "%s: \"%s\"",
                   f->name, warning.message);
        CHECK_INT(warning.count, 0);
    }
    mw_program_destroy(program);
}

static void test_what_makes_0_of_large_numbers_is_said(void)
{
    for (size_t i = 0; i < FORMS; i++)
        check_warnings(&forms[i], forms[i].off, forms[i].says != NULL);
}

static void test_what_is_written_otherwise_is_no_warning(void)
{
    for (size_t i = 0; i < FORMS; i++)
        if (forms[i].off != NULL)
            check_warnings(&forms[i], NULL, false);
}

/* No warning is made up. */
static void test_what_is_said_is_so(void)
{
    for (size_t i = 0; i < FORMS; i++) {
        mw_error err = {0};
        const form *f = &forms[i];
        if (f->x == 0)
            continue;
        const float there = first_of(f, MW_DEVICE_ANE, f->off, &err), here = first_of(f, MW_DEVICE_CPU, NULL, &err);
        check_note(err.status == MW_OK && there == 0.0f && here > 0.1f, __FILE__, __LINE__, "%s: %g, %g on the CPU. %s",
                   f->name, (double)there, (double)here, err.message);
    }
}

static void test_what_is_written_otherwise_is_right(void)
{
    for (size_t i = 0; i < FORMS; i++) {
        mw_error err = {0};
        const form *f = &forms[i];
        if (f->off == NULL)
            continue;
        const float there = first_of(f, MW_DEVICE_ANE, NULL, &err), here = first_of(f, MW_DEVICE_CPU, NULL, &err);
        check_note(err.status == MW_OK && fabsf(there - here) <= 0x1p-8f * here, __FILE__, __LINE__,
                   "%s: %g, %g on the CPU. %s", f->name, (double)there, (double)here, err.message);
    }
}

static bool fails_at(const form *f, long n)
{
    mw_error err = {0};
    failing_allocator failing = {.fail_at = n};
    mw_allocator allocator = failing_allocator_of(&failing);
    mw_compile_options options = mw_compile_defaults();
    options.device = MW_DEVICE_ANE;
    options.provider = MW_PROVIDER_ENGINE;
    options.allocator = &allocator;
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_output(f->make(mw_input(graph, "x", MW_F32, MW_SHAPE(COUNT))), "y");
    mw_program *program = mw_program_create(graph, &options, &err);
    check_note((program == NULL) == (err.status != MW_OK) && (program == NULL || !failing.failed), __FILE__, __LINE__,
               "%s, allocation %ld: %d %s", f->name, n, (int)err.status, err.message);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
    check_note(failing.live == 0, __FILE__, __LINE__, "%s, allocation %ld: %ld blocks are left", f->name, n,
               failing.live);
    return failing.failed;
}

static void test_a_failed_allocation_leaves_nothing(void)
{
    for (size_t i = 0; i < FORMS; i++)
        for (long n = 0; forms[i].off != NULL && fails_at(&forms[i], n);)
            n += 1 + n / 64;
}

/* Other arithmetic has no such end of softplus. */
static void test_a_softplus_that_is_right_is_no_warning(void)
{
    mw_error err = {0};
    mw_program *named = compile(&forms[0], MW_DEVICE_ANE, MW_CHIP_H13, NULL, NULL, &err);
    mw_program *ieee = compile(&forms[0], MW_DEVICE_ANE, MW_CHIP_AUTO, "ieee", "softplus", &err);
    mw_program *cpu = compile(&forms[0], MW_DEVICE_CPU, MW_CHIP_AUTO, NULL, NULL, &err);
    CHECK_OK(err);
    CHECK_INT(mw_program_get_info(named).warning_count, 0);
    CHECK_INT(mw_program_get_info(ieee).warning_count, 0);
    CHECK_INT(mw_program_get_info(cpu).warning_count, 0);
    mw_program_destroy(named);
    mw_program_destroy(ieee);
    mw_program_destroy(cpu);
}

/* The squares of an optimizer and of gradients are none: a step whose state is infinite is refused. */
static void test_a_trainer_has_no_warning_of_its_own(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(4, 8)), *y = mw_input(graph, "t", MW_F32, MW_SHAPE(4, 3));
    mw_tensor *h = mw_layer_norm_layer(mw_gelu(mw_dense(x, 8, "a"), MW_GELU_TANH), 1, 1e-3f, "n");
    mw_trainer_options options = mw_trainer_defaults(mw_mse(mw_dense(h, 3, "b"), y), mw_adam(1e-3f));
    options.compile.device = MW_DEVICE_ANE;
    options.compile.provider = MW_PROVIDER_ENGINE;
    mw_trainer *trainer = mw_trainer_create(&options, &err);
    mw_warning warning;
    CHECK_OK(err);
    for (size_t i = 0; mw_trainer_warning_at(trainer, i, &warning); i++)
        check_note(warning.count > 0, __FILE__, __LINE__, "%s", warning.message);
    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
}

int main(void)
{
    RUN(test_what_makes_0_of_large_numbers_is_said);
    RUN(test_what_is_written_otherwise_is_no_warning);
    RUN(test_what_is_said_is_so);
    RUN(test_what_is_written_otherwise_is_right);
    RUN(test_a_failed_allocation_leaves_nothing);
    RUN(test_a_softplus_that_is_right_is_no_warning);
    RUN(test_a_trainer_has_no_warning_of_its_own);
    return check_finish();
}
