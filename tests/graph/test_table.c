/* The operation table as data: what every row must be. */
#include "graph_check.h"

#include "base/number/number.h"

static void test_ids_index_the_table(void)
{
    for (int i = 0; i < MW__OP_COUNT; i++) {
        CHECK_INT(mw__rows[i].id, i);
        CHECK(mw__rows[i].name != NULL && mw__rows[i].name[0] != '\0');
        CHECK(mw__rows[i].shape != NULL);
    }
}

static void test_name_and_opset_are_unique(void)
{
    for (int i = 0; i < MW__OP_COUNT; i++) {
        for (int k = 0; k < i; k++) {
            const bool same = strcmp(mw__rows[i].name, mw__rows[k].name) == 0 && mw__rows[i].since == mw__rows[k].since;
            check_note(!same, __FILE__, __LINE__, "two rows of %s", mw__rows[i].name);
        }
    }
}

static void test_arguments_stand_in_byte_order(void)
{
    for (int i = 0; i < MW__OP_COUNT; i++) {
        for (size_t k = 1; k < mw__rows[i].arg_count; k++)
            check_note(strcmp(mw__rows[i].args[k - 1].name, mw__rows[i].args[k].name) < 0, __FILE__, __LINE__,
                       "%s: %s stands before %s", mw__rows[i].name, mw__rows[i].args[k - 1].name,
                       mw__rows[i].args[k].name);
    }
}

static bool is_literal(const mw__arg_row *arg)
{
    const char *text = arg->fallback;
    int64_t whole;
    double number;
    switch (arg->type) {
    case MW__STRING:
        return true;
    case MW__BOOL:
        return strcmp(text, "true") == 0 || strcmp(text, "false") == 0;
    case MW__I32:
    case MW__INT:
        return mw__number_read_i64(text, strlen(text), &whole);
    default:
        return mw__number_read(text, strlen(text), MW__NUMBER_F32, &number);
    }
}

static void test_defaults_are_literals_of_their_type(void)
{
    for (int i = 0; i < MW__OP_COUNT; i++) {
        for (size_t k = 0; k < mw__rows[i].arg_count; k++) {
            const mw__arg_row *arg = &mw__rows[i].args[k];
            if (arg->fallback != MW__REQUIRED && arg->fallback[0] != '\0')
                check_note(is_literal(arg), __FILE__, __LINE__, "%s: default \"%s\" of %s", mw__rows[i].name,
                           arg->fallback, arg->name);
        }
    }
}

static void test_row_find_takes_the_newest_not_above(void)
{
    const mw__row *newer;
    CHECK_INT(mw__row_find("gather", MW_IOS15, &newer)->id, MW__OP_gather);
    CHECK_INT(newer->since, MW_IOS16);
    CHECK_INT(mw__row_find("gather", MW_IOS16, NULL)->id, MW__OP_gather_ios16);
    CHECK_INT(mw__row_find("gather", MW_IOS26, &newer)->id, MW__OP_gather_ios17);
    CHECK(newer == NULL);
    CHECK(mw__row_find("no_such", MW_IOS26, NULL) == NULL);
}

static void test_row_of_a_later_opset_is_told(void)
{
    mw_opset below = (mw_opset)(MW_IOS15 - 1);
    const mw__row *newer;
    CHECK(mw__row_find("relu", below, &newer) == NULL);
    CHECK(newer != NULL && newer->since == MW_IOS15);
}

/* An expansion serves values where the row wants constants: a row with one must have such arguments. */
static void test_expansions_stand_where_tensors_must_be_constants(void)
{
    static const int with[] = {MW__OP_linear, MW__OP_batch_norm, MW__OP_instance_norm, MW__OP_layer_norm};
    for (size_t i = 0; i < sizeof with / sizeof *with; i++)
        CHECK(mw__rows[with[i]].expand != NULL);
    for (int i = 0; i < MW__OP_COUNT; i++) {
        bool constant = false;
        for (size_t k = 0; k < mw__rows[i].arg_count; k++)
            constant = constant || mw__rows[i].args[k].kind == MW__CONST;
        CHECK(constant || mw__rows[i].expand == NULL);
    }
}

int main(void)
{
    RUN(test_ids_index_the_table);
    RUN(test_name_and_opset_are_unique);
    RUN(test_arguments_stand_in_byte_order);
    RUN(test_defaults_are_literals_of_their_type);
    RUN(test_row_find_takes_the_newest_not_above);
    RUN(test_row_of_a_later_opset_is_told);
    RUN(test_expansions_stand_where_tensors_must_be_constants);
    return check_finish();
}
