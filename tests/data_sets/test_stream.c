/* Tables that are read piece by piece: the same numbers as when they are read whole, whatever the pieces, in memory
 * that does not grow with the file. */
#include "support/check.h"
#include "support/failing.h"
#include "support/folder.h"
#include "support/meter.h"

#include <millwright/data.h>
#include <millwright/millwright.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 101 };

static void put_table(const char *path, int rows)
{
    FILE *file = fopen(path, "w");
    REQUIRE(file != NULL);
    fputs("name,age,town,kind,price\n", file);
    for (int i = 0; i < rows; i++)
        fprintf(file, "\"n %d\",%s%d,%s,%s,%d\n", i, i % 4 == 3 ? "" : "1", i % 10, i % 3 == 0 ? "Ulm" : "Bonn",
                i % 2 == 0 ? "a" : "b", 1000 + i);
    fclose(file);
}

static mw_table_encoder *fit_encoder(const char *target, mw_error *err)
{
    mw_table_fit_options options = mw_table_fit_defaults("people.csv", target);
    const mw_field_setting settings[] = {{.name = "name", .kind = MW_FIELD_IGNORED}};
    options.fields = settings;
    options.field_count = 1;
    options.target_kind = strcmp(target, "price") == 0 ? MW_TARGET_VALUE : MW_TARGET_CLASS;
    return mw_table_encoder_fit(&options, NULL, NULL, err);
}

/* What is compared with the table as a whole. */
typedef struct comparing {
    const mw_dataset *whole;
    int64_t width, rows, pieces, most;
    double progress;
} comparing;

static mw_status compare_rows(void *user, const mw_table_rows *rows, mw_error *err)
{
    comparing *c = user;
    char name[16];
    const float *x = mw_dataset_column_at(c->whole, 0)->data;
    const int64_t *y = mw_dataset_column_at(c->whole, 1)->data;
    (void)err;
    CHECK(rows->count >= 1 && rows->count <= c->most && rows->progress >= c->progress && rows->progress <= 1);
    CHECK(memcmp(rows->x, x + c->rows * c->width, (size_t)(rows->count * c->width) * sizeof *x) == 0);
    for (int64_t i = 0; i < rows->count; i++) {
        snprintf(name, sizeof name, "n %d", (int)(c->rows + i));
        CHECK_STR(rows->ids[i], name);
        CHECK(rows->classes[i] == y[c->rows + i] && rows->values == NULL);
    }
    c->rows += rows->count;
    c->pieces++;
    c->progress = rows->progress;
    return MW_OK;
}

static void test_pieces_are_the_table(void)
{
    static const int64_t pieces[] = {1, 7, 100, 101, 65536};
    mw_error err = {0};
    mw_table_encoder *encoder = fit_encoder("kind", &err);
    mw_dataset *whole = mw_table_encoder_open(encoder, "people.csv", NULL, &err);
    REQUIRE(whole != NULL);
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        comparing c = {.whole = whole, .width = mw_table_encoder_width(encoder), .most = pieces[i]};
        mw_table_stream_options options = mw_table_stream_defaults("people.csv", compare_rows, &c);
        options.rows = pieces[i];
        options.id = "name";
        options.with_target = true;
        CHECK_INT(mw_table_encoder_stream(encoder, &options, &err), MW_OK);
        CHECK_OK(err);
        CHECK_INT(c.rows, ROWS);
        CHECK_INT(c.pieces, (ROWS + pieces[i] - 1) / pieces[i]);
    }
    mw_dataset_destroy(whole);
    mw_table_encoder_destroy(encoder);
}

static mw_status check_prices(void *user, const mw_table_rows *rows, mw_error *err)
{
    int64_t *done = user;
    (void)err;
    CHECK(rows->classes == NULL && rows->ids == NULL);
    for (int64_t i = 0; i < rows->count; i++)
        CHECK_NEAR(rows->values[i], (double)(1000 + *done + i), 0);
    *done += rows->count;
    return MW_OK;
}

static void test_values_have_their_own_unit(void)
{
    mw_error err = {0};
    int64_t done = 0;
    mw_table_encoder *encoder = fit_encoder("price", &err);
    mw_table_stream_options options = mw_table_stream_defaults("people.csv", check_prices, &done);
    options.with_target = true;
    mw_table_encoder_stream(encoder, &options, &err);
    CHECK_OK(err);
    CHECK_INT(done, ROWS);
    mw_table_encoder_destroy(encoder);
}

static mw_status count_rows(void *user, const mw_table_rows *rows, mw_error *err)
{
    (void)err;
    *(int64_t *)user += rows->count;
    return *(int64_t *)user == 20 ? MW_ERROR_STATE : MW_OK;
}

static void check_stream_refused(const char *path, bool with_target, const char *part)
{
    mw_error err = {0}, fine = {0};
    int64_t done = 0;
    mw_table_encoder *encoder = fit_encoder("kind", &fine);
    mw_table_stream_options options = mw_table_stream_defaults(path, count_rows, &done);
    options.with_target = with_target;
    options.rows = 10;
    CHECK(mw_table_encoder_stream(encoder, &options, &err) != MW_OK);
    CHECK_CONTAINS(err.message, part);
    mw_table_encoder_destroy(encoder);
}

static void test_what_does_not_fit_is_refused(void)
{
    folder_put("bare.csv", "age,town,price\n1,Ulm,3\n");
    folder_put("short.csv", "age,kind,price\n1,a,3\n");
    folder_put("odd.csv", "age,town,price,kind\n1,Ulm,3,a\n1,Ulm,3,c\n");
    check_stream_refused("bare.csv", true, "no field \"kind\"");
    check_stream_refused("short.csv", false, "no field \"town\"");
    check_stream_refused("odd.csv", true, "line 3, field \"kind\": \"c\" is none of the 2 classes");
    check_stream_refused("people.csv", false, "the function that takes the rows of a table ended it");
    check_stream_refused("gone.csv", false, "gone.csv");
}

static mw_status take_rows(void *user, const mw_table_rows *rows, mw_error *err)
{
    (void)err;
    *(int64_t *)user += rows->count;
    return MW_OK;
}

static void stream_with(const mw_allocator *allocator, const char *path, mw_error *err)
{
    int64_t done = 0;
    const mw_field_setting settings[] = {{.name = "name", .kind = MW_FIELD_IGNORED}};
    mw_table_fit_options fitting = mw_table_fit_defaults("people.csv", "kind");
    fitting.fields = settings;
    fitting.field_count = 1;
    fitting.allocator = allocator;
    mw_table_encoder *encoder = mw_table_encoder_fit(&fitting, NULL, NULL, err);
    mw_table_stream_options options = mw_table_stream_defaults(path, take_rows, &done);
    options.id = "name";
    options.with_target = true;
    mw_table_encoder_stream(encoder, &options, err);
    mw_table_encoder_destroy(encoder);
}

static void test_memory_does_not_grow_with_the_file(void)
{
    mw_error err = {0};
    put_table("long.csv", 100000);
    put_table("longer.csv", 200000);
    meter small = {0}, large = {0};
    const mw_allocator of_small = {.user = &small, .resize = meter_resize},
                       of_large = {.user = &large, .resize = meter_resize};
    stream_with(&of_small, "long.csv", &err);
    stream_with(&of_large, "longer.csv", &err);
    CHECK_OK(err);
    check_note(large.most == small.most && large.most < (size_t)2 << 20, __FILE__, __LINE__,
               "%zu bytes for 200000 rows, %zu for 100000", large.most, small.most);
}

static void test_streams_survive_failing_allocations(void)
{
    bool finished = false;
    for (long n = 0; !finished && n < 5000; n++) {
        failing_allocator failing = {.fail_at = n};
        const mw_allocator allocator = failing_allocator_of(&failing);
        mw_error err = {0};
        stream_with(&allocator, "people.csv", &err);
        finished = err.status == MW_OK && !failing.failed;
        CHECK(finished || err.status == MW_ERROR_MEMORY);
        CHECK_INT(failing.live, 0);
    }
    CHECK(finished);
}

int main(void)
{
    char folder[512];
    if (!folder_enter(folder))
        return 1;
    put_table("people.csv", ROWS);
    RUN(test_pieces_are_the_table);
    RUN(test_values_have_their_own_unit);
    RUN(test_what_does_not_fit_is_refused);
    RUN(test_memory_does_not_grow_with_the_file);
    RUN(test_streams_survive_failing_allocations);
    folder_leave(folder);
    return check_finish();
}
