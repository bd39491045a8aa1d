/* Contractions: against what PyTorch's einsum recorded with its gradients (data/torch/contract_cases.py), the order in
 * which they are computed, and what is refused. */
#include "support/check.h"
#include "support/on_engine.h"

#include "base/number/number.h"
#include "format/tensors/safetensors.h"
#include "graph/ir/ir.h"
#include <millwright/millwright.h>
#include <stdlib.h>

enum { OPERANDS = 12 };

/* ---- PyTorch ---- */

static const char *note_of(const mw__safetensors *file, const char *key, long index)
{
    char name[40];
    snprintf(name, sizeof name, "%s.%ld", key, index);
    const char *text = mw__safetensors_metadata(file, name);
    return text != NULL ? text : "";
}

static const mw__safetensors_tensor *recorded(const mw__safetensors *file, long index, const char *name)
{
    char key[64];
    snprintf(key, sizeof key, "%ld.%.20s", index, name);
    return mw__safetensors_find(file, key);
}

static float *load(const mw__safetensors *file, const mw__safetensors_tensor *tensor, mw_error *err)
{
    float *data = calloc(1, tensor->size + 1);
    mw__safetensors_read(file, tensor, data, err);
    return data;
}

/* The largest difference of a port from the record, and its largest element if every input is taken without its sign:
 * the sum of the terms whose sum it is. */
typedef struct port_check {
    char name[24];
    double off, largest;
} port_check;

static void read_port(mw_program *program, const mw__safetensors *file, long index, bool absolute, port_check *port,
                      mw_error *err)
{
    const mw__safetensors_tensor *tensor = recorded(file, index, port->name);
    const size_t count = (size_t)mw_shape_count(tensor->shape);
    float *wanted = load(file, tensor, err), *got = calloc(count + 1, sizeof *got);
    mw_program_read(program, port->name, MW_F32, got, count, err);
    for (size_t i = 0; i < count; i++)
        if (absolute)
            port->largest = fmax(port->largest, fabs((double)got[i]));
        else
            port->off = fmax(port->off, fabs((double)got[i] - (double)wanted[i]));
    free(got);
    free(wanted);
}

static void feed(mw_program *program, const mw__safetensors *file, long index, const char *name, bool absolute,
                 mw_error *err)
{
    const mw__safetensors_tensor *tensor = recorded(file, index, name);
    float *data = load(file, tensor, err);
    for (int64_t i = 0; absolute && i < mw_shape_count(tensor->shape); i++)
        data[i] = fabsf(data[i]);
    mw_program_write(program, name, MW_F32, data, (size_t)mw_shape_count(tensor->shape), err);
    free(data);
}

/* y, and "dx0" ... for the cotangent "dy". */
static mw_graph *build_case(const mw__safetensors *file, long index, size_t count, mw_error *err)
{
    mw_graph *graph = mw_graph_create(NULL, err);
    mw_tensor *x[OPERANDS], *dx[OPERANDS];
    char name[24];
    for (size_t i = 0; i < count; i++) {
        snprintf(name, sizeof name, "x%zu", i);
        const mw__safetensors_tensor *tensor = recorded(file, index, name);
        x[i] = mw_input(graph, name, MW_F32, tensor->shape);
    }
    mw_tensor *y = mw_contract(note_of(file, "equation", index), x, count);
    mw_output(y, "y");
    if (mw_graph_check(graph, err) != MW_OK)
        return graph;
    const mw__safetensors_tensor *wanted = recorded(file, index, "y");
    check_note(mw_shape_equal(mw_tensor_shape(y), wanted->shape), __FILE__, __LINE__, "case %ld: another shape", index);
    mw_tensor *dy = mw_input(graph, "dy", MW_F32, mw_tensor_shape(y));
    mw_backward(&(mw_pullback){.roots = &y, .seeds = &dy, .root_count = 1}, x, count, dx, err);
    for (size_t i = 0; i < count; i++) {
        snprintf(name, sizeof name, "dx%zu", i);
        mw_output(dx[i], name);
    }
    return graph;
}

/* The largest difference of y and the gradients, as a share of the terms that they are sums of. */
static double run_case(mw_program *program, const mw__safetensors *file, long index, size_t count, mw_error *err)
{
    port_check ports[OPERANDS + 1] = {{.name = "y"}};
    double off = 0.0;
    for (size_t i = 0; i < count; i++)
        snprintf(ports[i + 1].name, sizeof ports->name, "dx%zu", i);
    for (int absolute = 0; absolute < 2; absolute++) {
        feed(program, file, index, "dy", absolute, err);
        for (size_t i = 0; i < count; i++)
            feed(program, file, index, ports[i + 1].name + 1, absolute, err);
        mw_program_run(program, err);
        for (size_t i = 0; i <= count; i++)
            read_port(program, file, index, absolute, &ports[i], err);
    }
    for (size_t i = 0; i <= count; i++)
        off = fmax(off, ports[i].off / fmax(ports[i].largest, 1e-30));
    return off;
}

static void check_case(const mw__safetensors *file, long index, mw_device device, double tolerance)
{
    mw_error err = {0};
    const size_t count = strtoul(note_of(file, "operands", index), NULL, 10);
    mw_graph *graph = build_case(file, index, count, &err);
    mw_program *program = engine_compile(graph, device, 1, &err);
    const double off = program != NULL ? run_case(program, file, index, count, &err) : 0.0;
    if (device == MW_DEVICE_ANE && err.status == MW_ERROR_UNSUPPORTED)
        CHECK_CONTAINS(err.message, "the ANE has at most 5 dimensions");
    else
        check_note(err.status == MW_OK && off <= tolerance, __FILE__, __LINE__, "case %ld \"%s\": off by %.3g; %s",
                   index, note_of(file, "equation", index), off, err.message);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
}

static void check_recorded(mw_device device, double tolerance)
{
    char path[512];
    mw__safetensors file;
    mw_error err = {0};
    snprintf(path, sizeof path, "%s/data/torch/contract.safetensors", MW_TESTS_DIR);
    REQUIRE(mw__safetensors_open(&file, mw__allocator_default(), path, &err) == MW_OK);
    const long count = strtol(mw__safetensors_metadata(&file, "count"), NULL, 10);
    CHECK(count > 250);
    for (long i = 0; i < count; i++)
        check_case(&file, i, device, tolerance);
    mw__safetensors_close(&file);
}

static void test_equations_agree_with_torch(void) { check_recorded(MW_DEVICE_CPU, 1e-6); }

/* fp16: operands, each product of two and each gradient rounded to 2^-11, up to ten in a row, beside those that cancel.
 */
static void test_equations_agree_with_torch_in_fp16(void) { check_recorded(MW_DEVICE_ANE, 22 * 0x1p-11); }

/* ---- the order ---- */

/* The operations of a kind that a contraction of `shapes` appends. */
static int count_ops(const char *equation, const mw_shape *shapes, size_t count, const char *kind)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x[32];
    char name[24];
    int found = 0;
    for (size_t i = 0; i < count; i++) {
        snprintf(name, sizeof name, "x%zu", i);
        x[i] = mw_input(graph, name, MW_F32, shapes[i]);
    }
    CHECK(mw_contract(equation, x, count) != NULL);
    const mw__block *body = mw__graph_main(graph)->body;
    for (size_t i = 0; i < body->op_count; i++)
        found += strcmp(body->ops[i]->kind, kind) == 0;
    mw_graph_destroy(graph);
    return found;
}

static void test_a_product_of_matrices_is_one_matmul(void)
{
    const mw_shape two[] = {MW_SHAPE(2, 3, 4), MW_SHAPE(2, 4, 5)}, turned[] = {MW_SHAPE(3, 4), MW_SHAPE(4, 5)};
    CHECK_INT(count_ops("bij,bjk->bik", two, 2, "matmul"), 1);
    CHECK_INT(count_ops("bij,bjk->bik", two, 2, "transpose"), 0);
    CHECK_INT(count_ops("bij,bjk->bik", two, 2, "reshape"), 0);
    CHECK_INT(count_ops("ij,jk->ki", turned, 2, "matmul"), 1);
    CHECK_INT(count_ops("ij,jk->ki", turned, 2, "transpose"), 0);
    const mw_shape heads[] = {MW_SHAPE(2, 3, 4, 5), MW_SHAPE(2, 3, 6, 5)};
    CHECK_INT(count_ops("bhid,bhjd->bhij", heads, 2, "reshape"), 0);
    CHECK_INT(count_ops("bhid,bhjd->bhij", heads, 2, "transpose"), 0);
}

/* The first result on the way: its count of elements shows which pair came first. */
static int64_t first_product(const char *equation, const mw_shape *shapes, size_t count)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x[32];
    char name[24];
    int64_t size = -1;
    for (size_t i = 0; i < count; i++) {
        snprintf(name, sizeof name, "x%zu", i);
        x[i] = mw_input(graph, name, MW_F32, shapes[i]);
    }
    CHECK(mw_contract(equation, x, count) != NULL);
    const mw__block *body = mw__graph_main(graph)->body;
    for (size_t i = 0; i < body->op_count && size < 0; i++)
        if (strcmp(body->ops[i]->kind, "matmul") == 0)
            size = mw_shape_count(mw_tensor_shape(body->ops[i]->results[0]));
    mw_graph_destroy(graph);
    return size;
}

static void test_the_cheaper_order_is_taken(void)
{
    const mw_shape right[] = {MW_SHAPE(100, 50), MW_SHAPE(50, 100), MW_SHAPE(100, 2)};
    const mw_shape left[] = {MW_SHAPE(2, 100), MW_SHAPE(100, 50), MW_SHAPE(50, 100)};
    CHECK_INT(first_product("ij,jk,kl->il", right, 3), 50 * 2);
    CHECK_INT(first_product("ij,jk,kl->il", left, 3), 2 * 50);
    mw_shape chain[10];
    for (int i = 0; i < 10; i++)
        chain[i] = MW_SHAPE(i == 0 ? 64 : 64 - 4 * i, i == 9 ? 1 : 60 - 4 * i);
    CHECK_INT(first_product("ab,bc,cd,de,ef,fg,gh,hi,ij,jk->ak", chain, 10), 32);
}

/* ---- shapes ---- */

static void check_shape(const char *equation, mw_shape a, mw_shape b, mw_shape wanted)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x[] = {mw_input(graph, "a", MW_F32, a), mw_input(graph, "b", MW_F32, b)};
    mw_tensor *y = mw_contract(equation, x, 2);
    mw_graph_check(graph, &err);
    check_note(y != NULL && mw_shape_equal(mw_tensor_shape(y), wanted), __FILE__, __LINE__, "%s: %s", equation,
               err.message);
    mw_graph_destroy(graph);
}

static void test_extents_may_be_unknown_or_nothing(void)
{
    check_shape("ij,jk->ik", MW_SHAPE(-1, 4), MW_SHAPE(4, 5), MW_SHAPE(-1, 5));
    check_shape("ij,jk->ik", MW_SHAPE(-1, -1), MW_SHAPE(-1, -1), MW_SHAPE(-1, -1));
    check_shape("bij,jkl->bikl", MW_SHAPE(-1, 3, 4), MW_SHAPE(4, 5, 2), MW_SHAPE(-1, 3, 5, 2));
    check_shape("bij,jkl->bikl", MW_SHAPE(-1, -1, 4), MW_SHAPE(4, 5, 2), MW_SHAPE(-1, -1, 5, 2));
    check_shape("ij,j->i", MW_SHAPE(-1, 4), MW_SHAPE(4), MW_SHAPE(-1));
    check_shape("ij,jk->ik", MW_SHAPE(0, 4), MW_SHAPE(4, 5), MW_SHAPE(0, 5));
    check_shape("ijl,jlk->ik", MW_SHAPE(3, 0, 2), MW_SHAPE(0, 2, 5), MW_SHAPE(3, 5));
    check_shape("iij,j->ij", MW_SHAPE(3, 3, 0), MW_SHAPE(0), MW_SHAPE(3, 0));
}

/* ---- refusals ---- */

static void refuse_equation(const char *equation, mw_shape a, mw_shape b, mw_status status, const char *part)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x[] = {mw_input(graph, "a", MW_F32, a), mw_input(graph, "b", MW_F32, b)};
    CHECK(mw_contract(equation, x, 2) == NULL);
    mw_graph_check(graph, &err);
    CHECK_ERROR(err, status, part);
    mw_graph_destroy(graph);
}

static void test_what_is_no_equation_is_refused_with_its_place(void)
{
    static const struct {
        const char *equation, *part;
    } rows[] = {{NULL, "the equation is NULL"},
                {"", "equation \"\" has 1 terms for 2 operands"},
                {"ij,jk,kl->il", "has 3 terms for 2 operands"},
                {"ij->i", "has 1 terms for 2 operands"},
                {"ij,j1->i", "character 5: a term has letters and \"...\""},
                {"ij,j\n->i", "character 5: a term has letters"},
                {"ij,j\xc3\xa4->i", "character 5: a term has letters"},
                {"ij,j..", "character 5: a term has letters"},
                {"ij,j-k", "character 5: a term has letters"},
                {"......,ij", "character 4: a second \"...\" in one term"},
                {"abcdefghi,ij", "character 9: a term has at most 8 letters"},
                {"ij,jk->ik->i", "character 10: the result is one term"},
                {"ij,jk->i,k", "character 9: the result is one term"},
                {"ij,jk->ii", "character 8: the result has \"i\" twice"},
                {"ij,jk->iz", "character 8: the result has \"z\" but no operand has it"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        refuse_equation(rows[i].equation, MW_SHAPE(2, 3), MW_SHAPE(3, 4), MW_ERROR_ARGUMENT, rows[i].part);
}

static void test_shapes_that_do_not_fit_are_refused(void)
{
    refuse_equation("ijk,jk", MW_SHAPE(2, 3), MW_SHAPE(3, 4), MW_ERROR_SHAPE,
                    "term 0 has 3 letters, operand 0 has 2 axes");
    refuse_equation("ij,j", MW_SHAPE(2, 3), MW_SHAPE(3, 4), MW_ERROR_SHAPE,
                    "term 1 has 1 letters, operand 1 has 2 axes; \"...\" stands for axes without a letter");
    refuse_equation("i...jk,jk", MW_SHAPE(2, 3), MW_SHAPE(3, 4), MW_ERROR_SHAPE, "3 letters beside \"...\"");
    refuse_equation("ij,jk", MW_SHAPE(2, 3), MW_SHAPE(4, 4), MW_ERROR_SHAPE,
                    "\"j\" has extent 4 in operand 1 but 3 before");
    refuse_equation("...,...", MW_SHAPE(2, 3), MW_SHAPE(4, 3), MW_ERROR_SHAPE,
                    "axis -2 of \"...\" has extent 4 in operand 1 but 2 before");
    refuse_equation("ii,jk", MW_SHAPE(2, 3), MW_SHAPE(4, 4), MW_ERROR_SHAPE,
                    "\"i\" is a diagonal of operand 0, whose extents there are 2 and 3");
    refuse_equation("ii,jk", MW_SHAPE(-1, -1), MW_SHAPE(4, 4), MW_ERROR_SHAPE, "must be known and equal");
    refuse_equation("abcde,fghij", MW_SHAPE(1, 1, 1, 1, 1), MW_SHAPE(1, 1, 1, 1, 1), MW_ERROR_SHAPE,
                    "the result has more than 8 axes");
    refuse_equation("abcde,fghij->abcdefghi", MW_SHAPE(1, 1, 1, 1, 1), MW_SHAPE(1, 1, 1, 1, 1), MW_ERROR_ARGUMENT,
                    "a term has at most 8 letters");
}

static void test_operands_are_checked(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *many[40];
    for (int i = 0; i < 40; i++)
        many[i] = mw_scalar(graph, MW_F32, 1.0);
    CHECK(mw_contract("", many, 0) == NULL && mw_contract("", NULL, 1) == NULL);
    CHECK(mw_contract("", (mw_tensor *[]){NULL}, 1) == NULL && mw_graph_check(graph, &err) == MW_OK);
    CHECK(mw_contract(",,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,", many, 32) != NULL);
    CHECK(mw_contract(",,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,", many, 33) == NULL);
    mw_graph_check(graph, &err);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "33 operands; 1 to 32 are allowed");
    mw_graph_destroy(graph);

    graph = mw_graph_create(NULL, NULL);
    err = (mw_error){0};
    mw_tensor *mixed[] = {mw_scalar(graph, MW_F32, 1.0), mw_scalar(graph, MW_F16, 1.0)};
    CHECK(mw_contract(",", mixed, 2) == NULL);
    mw_graph_check(graph, &err);
    CHECK_ERROR(err, MW_ERROR_DTYPE, "operand 1 is fp16 but operand 0 is fp32");
    mw_graph_destroy(graph);
}

/* Any two of the three leave ten letters. */
static void test_integers_are_contracted(void)
{
    mw_error err = {0};
    const int32_t a[] = {1, 2, 3, 4, 5, 6, 7, 8, 9},
                  wanted[] = {1 * 1 + 5 * 4 + 9 * 7, 1 * 2 + 5 * 5 + 9 * 8, 1 * 3 + 5 * 6 + 9 * 9};
    int32_t got[3] = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_I32, MW_SHAPE(3, 3));
    mw_output(mw_contract("ii,ij->j", (mw_tensor *[]){x, x}, 2), "y");
    mw_program *program = engine_compile(graph, MW_DEVICE_CPU, 1, &err);
    mw_program_write(program, "x", MW_I32, a, 9, &err);
    mw_program_run(program, &err);
    mw_program_read(program, "y", MW_I32, got, 3, &err);
    CHECK_OK(err);
    CHECK(memcmp(got, wanted, sizeof got) == 0);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
}

static void test_an_order_of_too_many_axes_is_refused(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x[3];
    for (int i = 0; i < 3; i++)
        x[i] = mw_input(graph, (const char *[]){"a", "b", "c"}[i], MW_F32, MW_SHAPE(2, 2, 2, 2, 2, 2, 2, 2));
    CHECK(mw_contract("abcdefxy,abcghizw,defghiuv->xyzwuv", x, 3) == NULL);
    mw_graph_check(graph, &err);
    CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, "in every order two operands make a tensor of more than 8 axes");
    mw_graph_destroy(graph);
}

/* ---- random bytes ---- */

/* Bytes of equations in any order, for operands of any rank: refused, or a result. */
static void test_any_bytes_are_refused_or_contracted(void)
{
    static const char bytes[] = "abcAB,,..->> -\x80";
    uint64_t state = 7;
    for (int round = 0; round < 3000; round++) {
        char equation[24];
        mw_graph *graph = mw_graph_create(NULL, NULL);
        state = state * 6364136223846793005u + 1442695040888963407u;
        const size_t length = state >> 60;
        for (size_t i = 0; i < length; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            equation[i] = (state >> 62) != 0 ? "ab,c"[state >> 50 & 3] : bytes[(state >> 40) % (sizeof bytes - 1)];
        }
        equation[length] = '\0';
        mw_tensor *x[] = {mw_input(graph, "a", MW_F32, MW_SHAPE(2, 2)), mw_input(graph, "b", MW_F32, MW_SHAPE(2)),
                          mw_input(graph, "c", MW_F32, MW_SHAPE(1, 2, 2))};
        mw_tensor *y = mw_contract(equation, x, 1 + (size_t)(state >> 33) % 3);
        CHECK((y != NULL) == (mw_graph_check(graph, NULL) == MW_OK));
        mw_graph_destroy(graph);
    }
}

int main(void)
{
    RUN(test_equations_agree_with_torch);
    RUN(test_equations_agree_with_torch_in_fp16);
    RUN(test_a_product_of_matrices_is_one_matmul);
    RUN(test_the_cheaper_order_is_taken);
    RUN(test_extents_may_be_unknown_or_nothing);
    RUN(test_what_is_no_equation_is_refused_with_its_place);
    RUN(test_shapes_that_do_not_fit_are_refused);
    RUN(test_operands_are_checked);
    RUN(test_integers_are_contracted);
    RUN(test_an_order_of_too_many_axes_is_refused);
    RUN(test_any_bytes_are_refused_or_contracted);
    return check_finish();
}
