/* Folds of a cross-validation: every row is kept out once (by time: once at most), evenly, classes and groups as their
 * rules say; an encoder is fitted on its own fold's rows. */
#include "data_sets/encoded.h"
#include "support/check.h"
#include "support/folder.h"

#include <math.h>
#include <millwright/data.h>
#include <millwright/millwright.h>

enum { ROWS = 103, FOLDS = 5 };

/* n is the number of the row; one in six is rare; groups of different sizes; days that go up and down. */
static void write_rows(void)
{
    FILE *csv = fopen("rows.csv", "w");
    REQUIRE(csv != NULL);
    fputs("n,kind,group,day,one\n", csv);
    for (int i = 0; i < ROWS; i++)
        fprintf(csv, "%d,%s,g%d,%d,%s\n", i, i % 6 == 1 ? "rare" : "usual", (int)sqrt(i * 7.0), i * 37 % ROWS / 2,
                i == 17      ? "lone"
                : i % 2 != 0 ? "odd"
                             : "even");
    fclose(csv);
}

static mw_table_fit_options options_for(mw_split_rule rule, const char *field, int fold)
{
    static const mw_field_setting number = {.name = "n", .kind = MW_FIELD_NUMBER};
    mw_table_fit_options options = mw_table_fit_defaults("rows.csv", "kind");
    options.fields = &number;
    options.field_count = 1;
    options.only_fields = true;
    options.split = rule;
    options.split_field = field;
    options.folds = FOLDS;
    options.fold = fold;
    return options;
}

/* The row of an example: its number as it was before it was scaled. */
static int row_at(const encoded *t, const mw_dataset *set, int64_t example)
{
    mw_encoded_field f;
    mw_table_encoder_field_at(t->encoder, 0, &f);
    const double n = (double)encoded_x(set)[example] + f.offset;
    return (int)lround(n);
}

typedef struct seen {
    int kept[ROWS], learned[ROWS]; /* in how many folds */
    int fold[ROWS];
    int64_t sizes[FOLDS], rare[FOLDS];
} seen;

static void see(mw_split_rule rule, const char *field, seen *s)
{
    *s = (seen){.kept = {0}};
    for (int fold = 0; fold < FOLDS; fold++) {
        const mw_table_fit_options options = options_for(rule, field, fold);
        encoded t = encoded_with(&options);
        REQUIRE(CHECK_OK(t.err));
        s->sizes[fold] = mw_dataset_examples(t.validation);
        for (int64_t i = 0; i < s->sizes[fold]; i++) {
            const int row = row_at(&t, t.validation, i);
            REQUIRE(row >= 0 && row < ROWS);
            s->kept[row]++;
            s->fold[row] = fold;
            s->rare[fold] += row % 6 == 1;
        }
        for (int64_t i = 0; i < mw_dataset_examples(t.training); i++)
            s->learned[row_at(&t, t.training, i)]++;
        encoded_close(&t);
    }
}

static void check_once(const seen *s)
{
    for (int i = 0; i < ROWS; i++)
        check_note(s->kept[i] == 1 && s->learned[i] == FOLDS - 1, __FILE__, __LINE__, "row %d: kept out %d times", i,
                   s->kept[i]);
}

static void test_rows_are_dealt_out_evenly(void)
{
    seen s;
    see(MW_SPLIT_RANDOM, NULL, &s);
    check_once(&s);
    for (int i = 0; i < FOLDS; i++) {
        CHECK(s.sizes[i] == ROWS / FOLDS || s.sizes[i] == ROWS / FOLDS + 1);
        CHECK(s.rare[i] == 3 || s.rare[i] == 4); /* of 17, as the target is a class */
    }
}

static void test_folds_have_as_much_of_each_class(void)
{
    seen s;
    see(MW_SPLIT_STRATIFIED, NULL, &s);
    check_once(&s);
    for (int i = 0; i < FOLDS; i++) {
        CHECK(s.sizes[i] == ROWS / FOLDS || s.sizes[i] == ROWS / FOLDS + 1);
        CHECK(s.rare[i] == 3 || s.rare[i] == 4); /* of 17 */
    }
}

static void test_groups_stay_together(void)
{
    seen s;
    see(MW_SPLIT_GROUP, "group", &s);
    check_once(&s);
    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < i; k++)
            CHECK((int)sqrt(i * 7.0) != (int)sqrt(k * 7.0) || s.fold[i] == s.fold[k]);
    for (int i = 0; i < FOLDS; i++)
        CHECK(s.sizes[i] >= 17 && s.sizes[i] <= 25);
}

/* Fold k is learned from what was before it, and nothing behind it. */
static void test_time_goes_forward(void)
{
    for (int fold = 0; fold < FOLDS; fold++) {
        const mw_table_fit_options options = options_for(MW_SPLIT_TIME, "day", fold);
        encoded t = encoded_with(&options);
        int latest = -1, earliest = ROWS;
        REQUIRE(CHECK_OK(t.err));
        for (int64_t i = 0; i < mw_dataset_examples(t.training); i++) {
            const int day = row_at(&t, t.training, i) * 37 % ROWS / 2;
            latest = day > latest ? day : latest;
        }
        for (int64_t i = 0; i < mw_dataset_examples(t.validation); i++) {
            const int day = row_at(&t, t.validation, i) * 37 % ROWS / 2;
            earliest = day < earliest ? day : earliest;
        }
        CHECK(latest < earliest);
        const double block = ROWS / (FOLDS + 1.0);
        CHECK(fabs((double)mw_dataset_examples(t.training) - block * (fold + 1)) <= 2);
        CHECK(fabs((double)mw_dataset_examples(t.validation) - block) <= 3);
        encoded_close(&t);
    }
}

static void test_last_rows_go_forward_too(void)
{
    seen s;
    see(MW_SPLIT_LAST, NULL, &s);
    for (int i = 0; i < ROWS; i++) {
        int block = 0; /* of the file's order */
        while (ROWS * (block + 1) / (FOLDS + 1) <= i)
            block++;
        CHECK(s.kept[i] == (block > 0) && (block == 0 || s.fold[i] == block - 1));
        CHECK_INT(s.learned[i], FOLDS - block);
    }
}

static void check_refused(mw_table_fit_options options, mw_status status, const char *message)
{
    encoded t = encoded_with(&options);
    CHECK_ERROR(t.err, status, message);
    encoded_close(&t);
}

static void test_what_cannot_be_folds_is_refused(void)
{
    mw_table_fit_options o = options_for(MW_SPLIT_RANDOM, NULL, 5);
    check_refused(o, MW_ERROR_ARGUMENT, "fold 5 of 5; folds are 0 for none or 2 to 1000");
    o.fold = 0, o.folds = 1;
    check_refused(o, MW_ERROR_ARGUMENT, "fold 0 of 1");
    o.folds = 200;
    check_refused(o, MW_ERROR_FORMAT, "103 rows cannot be 200 folds");
    o = options_for(MW_SPLIT_GROUP, "group", 0);
    o.folds = 40;
    check_refused(o, MW_ERROR_FORMAT, "26 groups cannot be 40 folds");
    o = options_for(MW_SPLIT_STRATIFIED, NULL, 0);
    o.target = "one";
    check_refused(o, MW_ERROR_FORMAT, "the class \"lone\" has one row");
    o = options_for(MW_SPLIT_TIME, "day", 4);
    o.folds = 90;
    check_refused(o, MW_ERROR_FORMAT, "fold 5 of 90 has no rows, as those at its place have one time");
}

int main(void)
{
    char folder[512];
    if (!folder_enter(folder))
        return 1;
    RUN(write_rows);
    RUN(test_rows_are_dealt_out_evenly);
    RUN(test_folds_have_as_much_of_each_class);
    RUN(test_groups_stay_together);
    RUN(test_time_goes_forward);
    RUN(test_last_rows_go_forward_too);
    RUN(test_what_cannot_be_folds_is_refused);
    folder_leave(folder);
    return check_finish();
}
