/* The traits of the operation table: what each says of a row holds for the operations of every case, and agrees with
 * the other columns. */
#include "graph/ir/count.h"
#include "graph/ir/ir.h"
#include "support/cases/op_cases.h"
#include "support/check.h"

#include <millwright/millwright.h>
#include <string.h>

static unsigned met; /* traits of which some case has an operation */

static void check_that(bool holds, const mw__row *row, const char *what)
{
    check_note(holds, __FILE__, __LINE__, "%s: %s", row->name, what);
}

/* ---- the table alone ---- */

/* The words of the kernel column that stand for a class, and the traits that go with each. */
static const struct {
    const char *kernel;
    unsigned traits;
} classes[] = {
    {"unary", MW__TRAIT_ELEMENTWISE | MW__TRAIT_UNARY},
    {"per_channel", MW__TRAIT_UNARY},
    {"binary", MW__TRAIT_ELEMENTWISE | MW__TRAIT_BROADCASTS},
    {"compare", MW__TRAIT_ELEMENTWISE | MW__TRAIT_BROADCASTS | MW__TRAIT_TRUTHS},
    {"view", MW__TRAIT_VIEW},
    {"constexpr", MW__TRAIT_CONSTEXPR},
    {"lowered", MW__TRAIT_LOWERED},
};

static unsigned traits_of_kernel(const char *kernel)
{
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (strcmp(classes[i].kernel, kernel) == 0)
            return classes[i].traits;
    return 0;
}

static void test_traits_are_known_and_those_of_the_kernel(void)
{
    const unsigned of_kernels = MW__TRAIT_ELEMENTWISE | MW__TRAIT_UNARY | MW__TRAIT_VIEW | MW__TRAIT_CONSTEXPR |
                                MW__TRAIT_LOWERED; /* which no other kernel gives */
    for (size_t i = 0; i < MW__OP_COUNT; i++) {
        const mw__row *row = &mw__rows[i];
        const unsigned wanted = traits_of_kernel(row->kernel);
        check_that(row->traits < MW__TRAIT_END, row, "a trait that there is not");
        check_that(mw__row_has(row, wanted), row, "lacks a trait that its kernel has");
        check_that((row->traits & of_kernels) == (wanted & of_kernels), row, "a trait that its kernel has not");
    }
    CHECK(!mw__row_has(NULL, MW__TRAIT_VIEW));
}

/* What is asked by name of an operation must not differ between its opsets. */
static void test_opsets_of_an_operation_have_the_same(void)
{
    for (size_t i = 0; i < MW__OP_COUNT; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(mw__rows[i].name, mw__rows[k].name) == 0)
                check_that(mw__rows[i].traits == mw__rows[k].traits, &mw__rows[i], "other traits than before");
}

static bool sums_products(mw__count_rule rule)
{
    return rule == MW__COUNT_PRODUCT || rule == MW__COUNT_EINSUM || rule == MW__COUNT_WINDOWS ||
           rule == MW__COUNT_WINDOWS_BACK || rule == MW__COUNT_GATES || rule == MW__COUNT_SCORES;
}

static void test_traits_agree_with_counts_and_names(void)
{
    for (size_t i = 0; i < MW__OP_COUNT; i++) {
        const mw__row *row = &mw__rows[i];
        const mw__count_rule rule = mw__op_count_row_of(row->id)->rule;
        check_that(mw__row_has(row, MW__TRAIT_PRODUCTS) ==
                       (sums_products(rule) && !mw__row_has(row, MW__TRAIT_LOWERED)),
                   row, "PRODUCTS, and what is counted");
        check_that(!mw__row_has(row, MW__TRAIT_VIEW) || rule == MW__COUNT_MOVES, row, "a VIEW that computes");
        check_that(mw__row_has(row, MW__TRAIT_RANDOM) == (strncmp(row->name, "random_", 7) == 0), row, "RANDOM");
        check_that(mw__row_has(row, MW__TRAIT_CONSTEXPR) == (strncmp(row->name, "constexpr_", 10) == 0), row,
                   "CONSTEXPR");
        check_that(!mw__row_has(row, MW__TRAIT_REARRANGES) || mw__row_has(row, MW__TRAIT_MOVES), row,
                   "it rearranges and does not move");
        check_that(!mw__row_has(row, MW__TRAIT_LIGHT | MW__TRAIT_PRODUCTS), row, "light and full of products");
    }
}

static const mw__arg_row *arg_of(const mw__row *row, const char *name)
{
    for (size_t i = 0; i < row->arg_count; i++)
        if (strcmp(row->args[i].name, name) == 0)
            return &row->args[i];
    return NULL;
}

static void test_packed_is_one_argument(void)
{
    const unsigned each[] = {MW__TRAIT_PACKED_WEIGHT, MW__TRAIT_PACKED_X, MW__TRAIT_PACKED_Y};
    for (size_t i = 0; i < MW__OP_COUNT; i++) {
        int count = 0;
        for (size_t k = 0; k < sizeof each / sizeof *each; k++)
            count += mw__row_has(&mw__rows[i], each[k]);
        const char *packed = mw__row_packed(&mw__rows[i]);
        check_that(count == (packed != NULL), &mw__rows[i], "not one argument that may stay packed");
        check_that(packed == NULL || arg_of(&mw__rows[i], packed) != NULL, &mw__rows[i], "no such argument");
    }
}

/* ---- operations of the cases ---- */

/* The shape that all operands broadcast to; parameters are scalars, and change nothing. */
static mw_shape broadcast_of(const mw__op *op)
{
    mw_shape out = mw_shape_scalar();
    for (size_t s = 0; s < op->slot_count; s++)
        for (size_t k = 0; op->slots[s].operands != NULL && k < op->slots[s].count; k++) {
            const mw_shape own = mw_tensor_shape(op->slots[s].operands[k].value);
            mw_shape wide = own.rank > out.rank ? own : out;
            const mw_shape other = own.rank > out.rank ? out : own;
            for (int i = 0; i < other.rank; i++) {
                int64_t *extent = &wide.dim[wide.rank - other.rank + i];
                *extent = *extent == 1 ? other.dim[i] : *extent;
            }
            out = wide;
        }
    return out;
}

static void check_parameters(const mw__row *row)
{
    for (size_t i = 0; i < row->arg_count; i++)
        check_that((row->args[i].kind == MW__CONST) == (strcmp(row->args[i].name, "x") != 0), row,
                   "not a function of x alone");
}

static void check_moved(const mw__op *op)
{
    const mw_tensor *x = mw__arg(op, "x"), *y = op->results[0];
    check_that(op->result_count == 1 && x != NULL, op->row, "moves no x");
    check_that(mw_tensor_dtype(x) == mw_tensor_dtype(y) || op->row->id == MW__OP_cast, op->row,
               "moves to another type");
    if (mw__op_has(op, MW__TRAIT_REARRANGES) || mw__op_has(op, MW__TRAIT_VIEW))
        check_that(mw_shape_count(mw_tensor_shape(x)) == mw_shape_count(mw_tensor_shape(y)), op->row,
                   "other elements than those of x");
}

static void check_op(const mw__op *op)
{
    met |= op->row->traits;
    if (mw__op_has(op, MW__TRAIT_ELEMENTWISE) || mw__op_has(op, MW__TRAIT_BROADCASTS))
        check_that(op->result_count == 1 && mw_shape_equal(mw_tensor_shape(op->results[0]), broadcast_of(op)), op->row,
                   "not the shape that its operands broadcast to");
    if (mw__op_has(op, MW__TRAIT_UNARY)) {
        check_parameters(op->row);
        check_that(mw_shape_equal(mw_tensor_shape(op->results[0]), mw_tensor_shape(mw__arg(op, "x"))), op->row,
                   "not the shape of x");
    }
    if (mw__op_has(op, MW__TRAIT_TRUTHS))
        check_that(mw_tensor_dtype(op->results[0]) == MW_BOOL, op->row, "no truths");
    if (mw__op_has(op, MW__TRAIT_MOVES) || mw__op_has(op, MW__TRAIT_VIEW))
        check_moved(op);
    if (mw__op_has(op, MW__TRAIT_LOWERED | MW__TRAIT_LIGHT))
        check_that(false, op->row, "light, and has no kernel");
}

static void check_block(const mw__block *block)
{
    for (size_t i = 0; i < block->op_count; i++) {
        if (block->ops[i]->row != NULL)
            check_op(block->ops[i]);
        for (size_t b = 0; b < block->ops[i]->block_count; b++)
            check_block(block->ops[i]->blocks[b]);
    }
}

static void test_every_operation_is_what_its_traits_say(void)
{
    const op_case *c;
    for (size_t i = 0; (c = op_case_at(i)) != NULL; i++) {
        op_instance instance;
        if (op_instance_init(&instance, c, MW_F32, 1))
            check_block(instance.graph->current->body);
        op_instance_deinit(&instance);
    }
    for (unsigned trait = 1; trait < MW__TRAIT_END; trait <<= 1)
        check_note((met & trait) != 0, __FILE__, __LINE__, "trait %#x: no case has it", trait);
}

int main(void)
{
    RUN(test_traits_are_known_and_those_of_the_kernel);
    RUN(test_opsets_of_an_operation_have_the_same);
    RUN(test_traits_agree_with_counts_and_names);
    RUN(test_packed_is_one_argument);
    RUN(test_every_operation_is_what_its_traits_say);
    return check_finish();
}
