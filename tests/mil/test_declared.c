/* What a text declares against its rule is refused by whatever copies the program: compiling, training, other files. */
#include "graph/transform/segment/prune.h"
#include "mil/legalize/legal_form.h"
#include "support/cases/op_cases.h"
#include "support/check.h"
#include "support/on_engine.h"

/* The first extent is one more than it is, or the rank. */
static void declare_wrong(mw_graph *graph, mw_tensor *y, bool rank)
{
    mw_error err = {0};
    mw_shape shape = mw_tensor_shape(y);
    if (rank || shape.rank == 0)
        shape.dim[shape.rank++] = 1;
    else
        shape.dim[0]++;
    y->type = mw__type_tensor(graph, mw_tensor_dtype(y), shape, &err);
}

/* True if the rule gives the shape and the form for the device was refused. */
static bool check_case(const op_case *c, mw_device device, bool rank)
{
    op_instance instance;
    mw__legal_form form;
    mw_error right = {0}, verified = {0}, wrong = {0};
    const mw__legal_options how = {.device = mw__device_find((uint64_t)device)};
    if (!op_instance_init(&instance, c, MW_F32, 7))
        return false;
    mw_tensor *y = instance.y;
    mw_output(y, "result");
    bool known =
        y->op != NULL && y->op->row != NULL && mw__legal_form_make(instance.graph, &how, &form, &right) == MW_OK;
    if (known)
        mw__legal_form_deinit(&form);
    if (known)
        declare_wrong(instance.graph, y, rank);
    known = known && mw__op_verify(y->op, &verified) != MW_OK; /* what the rule leaves open is no contradiction */
    if (known) {
        mw__legal_form_make(instance.graph, &how, &form, &wrong);
        check_note(wrong.status == MW_ERROR_FORMAT && strstr(wrong.message, "the rule gives") != NULL, __FILE__,
                   __LINE__, "%s %s on device %d: %d \"%s\"", c->name, c->detail, (int)device, (int)wrong.status,
                   wrong.message);
        mw__legal_form_deinit(&form);
    }
    op_instance_deinit(&instance);
    return known;
}

static void test_every_operation_is_held_to_its_rule_when_it_is_compiled(void)
{
    static const mw_device devices[] = {MW_DEVICE_CPU, MW_DEVICE_ANE};
    size_t checked = 0;
    const op_case *c;
    for (size_t i = 0; (c = op_case_at(i)) != NULL; i++)
        for (size_t d = 0; d < 2; d++)
            for (int rank = 0; rank < 2; rank++)
                checked += check_case(c, devices[d], rank > 0);
    check_note(checked > 800, __FILE__, __LINE__, "only %zu cases were checked", checked);
}

static const char text[] =
    "program(1.3)\n{func main<ios18>(tensor<fp32, [2, 3]> x) {tensor<fp32, [2, 4]> h = relu(x = x);"
    "tensor<fp32, []> y = reduce_mean(axes = tensor<int32, [2]>([0, 1]), keep_dims = bool(false), x = h);} -> (y);}";

static void test_programs_and_trainers_refuse_it(void)
{
    mw_error program = {0}, trainer = {0}, err = {0};
    mw_graph *graph = mw_graph_parse_mil(text, strlen(text), NULL, NULL, &err);
    REQUIRE(graph != NULL);
    CHECK(engine_compile(graph, MW_DEVICE_CPU, 1, &program) == NULL);
    CHECK_ERROR(program, MW_ERROR_FORMAT, "relu \"h\": result 0 is declared fp32 [2, 4], the rule gives fp32 [2, 3]");
    CHECK(engine_trainer(mw_graph_find(graph, "y"), mw_sgd(0.1f), MW_DEVICE_CPU, 1, &trainer) == NULL);
    CHECK(trainer.status != MW_OK);
    mw_graph_destroy(graph);
}

/* fp16 where the rule gives fp32. */
static void test_another_element_type_is_refused_too(void)
{
    static const char half[] =
        "program(1.3)\n{func main<ios18>(tensor<fp32, [2]> x) {tensor<fp16, [2]> y = relu(x = x);"
        "} -> (y);}";
    mw_error err = {0}, program = {0};
    mw_graph *graph = mw_graph_parse_mil(half, strlen(half), NULL, NULL, &err);
    REQUIRE(graph != NULL);
    CHECK(engine_compile(graph, MW_DEVICE_CPU, 1, &program) == NULL);
    CHECK_ERROR(program, MW_ERROR_FORMAT, "declared fp16 [2], the rule gives fp32 [2]");
    mw_graph_destroy(graph);
}

/* What is not copied is what the copy would have been. */
static bool check_form(const op_case *c)
{
    bool in_form = false;
    op_instance instance;
    mw_error err = {0};
    const mw__device_traits *cpu = mw__device_find(MW_DEVICE_CPU);
    if (!op_instance_init(&instance, c, MW_F32, 7))
        return false;
    mw_output(instance.y, "result");
    mw_graph *copy = mw_graph_create(NULL, NULL);
    if (mw_graph_check(instance.graph, NULL) == MW_OK)
        mw__mil_is_in_form(instance.graph, cpu, &in_form, &err);
    if (in_form && mw__mil_legalize(instance.graph, copy, cpu, &err) == MW_OK) {
        char *is = mw_graph_print_mil(instance.graph, NULL, &err), *would_be = mw_graph_print_mil(copy, NULL, &err);
        check_note(is != NULL && would_be != NULL && strcmp(is, would_be) == 0, __FILE__, __LINE__, "%s %s: %s\n%s",
                   c->name, c->detail, is, would_be);
        mw_string_free(is);
        mw_string_free(would_be);
    }
    CHECK_OK(err);
    mw_graph_destroy(copy);
    op_instance_deinit(&instance);
    return in_form;
}

static void test_a_program_in_form_is_what_a_copy_would_be(void)
{
    size_t in_form = 0;
    const op_case *c;
    for (size_t i = 0; (c = op_case_at(i)) != NULL; i++)
        in_form += check_form(c);
    check_note(in_form > 200, __FILE__, __LINE__, "only %zu cases are in form", in_form);
}

/* So is one that autograd stops at. */
static void test_a_stopped_gradient_is_in_form(void)
{
    bool in_form = false;
    mw_error err = {0};
    const mw__device_traits *cpu = mw__device_find(MW_DEVICE_CPU);
    mw_graph *graph = mw_graph_create(NULL, NULL), *copy = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(2));
    mw_output(mw_mul(mw_stop_gradient(mw_exp(x)), x), "y");
    mw__mil_is_in_form(graph, cpu, &in_form, &err);
    CHECK(in_form);
    CHECK(mw__mil_legalize(graph, copy, cpu, &err) == MW_OK);
    char *is = mw_graph_print_mil(graph, NULL, &err), *would_be = mw_graph_print_mil(copy, NULL, &err);
    CHECK_OK(err);
    CHECK_STR(is, would_be);
    mw_string_free(is);
    mw_string_free(would_be);
    mw_graph_destroy(graph);
    mw_graph_destroy(copy);
}

/* A trainer's step has nothing that its results do not need, which its loss may have made. */
static void test_a_step_has_nothing_dead(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(4, 3)), *y = mw_input(graph, "y", MW_I32, MW_SHAPE(4));
    mw_tensor *logits = mw_dense(x, 5, "fc");
    mw_exp(logits);
    mw_trainer *trainer = engine_trainer(mw_cross_entropy(logits, y), mw_adam(0.1f), MW_DEVICE_CPU, 1, &err);
    mw_graph_destroy(graph);
    const char *mil = trainer != NULL ? mw_program_get_info(mw_trainer_program(trainer)).mil : "";
    mw_graph *step = mw_graph_parse_mil(mil, strlen(mil), NULL, NULL, &err);
    CHECK_OK(err);
    if (CHECK(step != NULL)) {
        const size_t before = step->functions[0]->body->op_count;
        CHECK(mw__prune(step->functions[0], &err) == MW_OK);
        CHECK_INT(step->functions[0]->body->op_count, before);
    }
    mw_graph_destroy(step);
    mw_trainer_destroy(trainer);
}

/* An operation that nothing needs, an output that is an input, and one that is there twice, are what a copy mends. */
static void test_a_program_with_a_rest_is_copied(void)
{
    static const mw_device devices[] = {MW_DEVICE_CPU, MW_DEVICE_ANE};
    for (int kind = 0; kind < 4; kind++) {
        bool in_form = true;
        mw_error err = {0};
        mw_graph *graph = mw_graph_create(NULL, NULL);
        mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(2)), *y = mw_output(mw_relu(x), "y");
        if (kind == 0)
            mw_exp(x);
        else if (kind == 1)
            mw_output(x, "x");
        else if (kind == 2)
            mw_output(y, "y");
        mw__mil_is_in_form(graph, mw__device_find(devices[kind == 3]), &in_form, &err);
        check_note(!in_form, __FILE__, __LINE__, "kind %d counts as in form", kind);
        mw_graph_destroy(graph);
    }
}

int main(void)
{
    RUN(test_every_operation_is_held_to_its_rule_when_it_is_compiled);
    RUN(test_programs_and_trainers_refuse_it);
    RUN(test_another_element_type_is_refused_too);
    RUN(test_a_program_in_form_is_what_a_copy_would_be);
    RUN(test_a_stopped_gradient_is_in_form);
    RUN(test_a_step_has_nothing_dead);
    RUN(test_a_program_with_a_rest_is_copied);
    return check_finish();
}
