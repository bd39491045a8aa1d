/* Charts of what was predicted beside what is true: figures are those of plain sums and of all pairs, texts have room,
 * and few points are drawn. */
#include "picture.h"
#include "support/check.h"
#include "support/failing.h"
#include "support/folder.h"

#include <math.h>
#include <millwright/data.h>
#include <millwright/report.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 900 };

static bool has(const char *page, const char *part)
{
    return check_note(page != NULL && strstr(page, part) != NULL, __FILE__, __LINE__, "the page lacks %s", part);
}

static size_t count_parts(const char *page, const char *part)
{
    size_t count = 0;
    for (const char *at = page; at != NULL && (at = strstr(at, part)) != NULL; at += strlen(part))
        count++;
    return count;
}

/* Each chart of the page is whole, and its texts have room. Returns how many there are. */
static size_t check_charts(const char *page)
{
    size_t charts = 0;
    for (const char *at = page; at != NULL && (at = strstr(at, "<svg ")) != NULL; charts++) {
        const char *end = strstr(at, "</svg>");
        if (!CHECK(end != NULL))
            return 0;
        char *svg = strndup(at, (size_t)(end - at) + strlen("</svg>"));
        CHECK(picture_check_texts(svg, "a chart") >= 8);
        free(svg);
        at = end;
    }
    return charts;
}

static char *print_page(const mw_report_numbers *numbers, size_t count)
{
    mw_error err = {0};
    mw_report_options options = mw_report_defaults();
    options.numbers = numbers;
    options.number_count = count;
    char *page = mw_report_print(&options, &err);
    CHECK_OK(err);
    if (page != NULL) {
        picture_is_xml(page, "numbers");
        picture_is_alone(page, "numbers");
    }
    return page;
}

static float draw(unsigned *state)
{
    *state = *state * 1664525U + 1013904223U;
    return (float)(*state >> 8) / 16777216.0F;
}

/* ---- values ---- */

static void test_values_are_drawn_beside_what_is_true(void)
{
    static float predicted[COUNT], truth[COUNT];
    unsigned state = 1;
    double sum = 0, squared = 0;
    char part[64];
    for (int i = 0; i < COUNT; i++) {
        truth[i] = 100.0F * draw(&state);
        predicted[i] = truth[i] + 10.0F * (draw(&state) - 0.3F);
    }
    predicted[3] = NAN;
    truth[4] = INFINITY;
    for (int i = 0; i < COUNT; i++) {
        const double error = i == 3 || i == 4 ? 0 : (double)predicted[i] - (double)truth[i];
        sum += fabs(error);
        squared += error * error;
    }
    const mw_report_numbers numbers = {"width & height (cm)", false, predicted, truth, COUNT};
    char *page = print_page(&numbers, 1);
    has(page, ">898 examples with finite numbers: ");
    snprintf(part, sizeof part, "mean absolute error <b>%.4g</b>", sum / (COUNT - 2));
    has(page, part);
    snprintf(part, sizeof part, "root of the mean square <b>%.4g</b>", sqrt(squared / (COUNT - 2)));
    has(page, part);
    has(page, "One example in 3 is drawn.");
    has(page, ">true width &amp; height (cm)</text>");
    has(page, ">predicted width &amp; height (cm)</text>");
    has(page, ">predicted - true width &amp; height (cm)</text>");
    CHECK_INT(check_charts(page), 2);
    CHECK_INT(count_parts(page, "<circle "), 300 - 1); /* the 3rd has no number */
    CHECK(page != NULL && strlen(page) < 64000);
    mw_string_free(page);
}

/* A long name is cut between letters, and no byte of one is left over. */
static void test_long_names_are_cut_between_letters(void)
{
    static const float values[] = {1, 2, 3};
    char name[400] = "";
    for (int i = 0; i < 40; i++) {
        strcat(name, i % 3 == 0 ? "價" : i % 3 == 1 ? "ä<" : "x&");
        const mw_report_numbers numbers = {name, false, values, values, 3};
        char *page = print_page(&numbers, 1);
        CHECK(page != NULL && strstr(page, "\\x") == NULL);
        CHECK_INT(check_charts(page), 2);
        mw_string_free(page);
    }
}

/* One example, all alike, of any size. */
static void test_odd_values_are_drawn_as_well(void)
{
    static const float sets[][3] = {{5, 5, 5}, {0, 0, 0}, {3e38F, -3e38F, 1}, {1e-38F, 2e-38F, 0}, {NAN, NAN, NAN}};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        for (size_t count = 1; count <= 3; count += 2) {
            const mw_report_numbers numbers = {NULL, false, sets[i], sets[(i + count) % 4], count};
            char *page = print_page(&numbers, 1);
            CHECK(page != NULL && strstr(page, "=\"nan") == NULL && strstr(page, "=\"inf") == NULL);
            check_charts(page);
            mw_string_free(page);
        }
    }
}

/* ---- probabilities ---- */

/* Yes over no in all pairs, half of it if they are alike. */
static double area_of_pairs(const float *p, const float *truth, size_t count)
{
    double won = 0, pairs = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < count; k++)
            if (truth[i] > truth[k]) {
                won += p[i] > p[k] ? 1 : p[i] == p[k] ? 0.5 : 0;
                pairs += 1;
            }
    return won / pairs;
}

/* Each yes has the precision of those that are as sure: their mean. */
static double average_precision(const float *p, const float *truth, size_t count)
{
    double sum = 0, all = 0;
    for (size_t i = 0; i < count; i++) {
        double hits = 0, passed = 0;
        for (size_t k = 0; k < count; k++) {
            hits += p[k] >= p[i] && truth[k] > 0.5F;
            passed += p[k] >= p[i];
        }
        if (truth[i] > 0.5F) {
            sum += hits / passed;
            all += 1;
        }
    }
    return sum / all;
}

static void check_areas(const char *page, const float *p, const float *truth, size_t count)
{
    char part[128];
    snprintf(part, sizeof part, "area below the ROC curve <b>%.4f</b>, average precision <b>%.4f</b>",
             area_of_pairs(p, truth, count), average_precision(p, truth, count));
    has(page, part);
}

static void test_probabilities_have_curves(void)
{
    static float p[2][COUNT], truth[COUNT];
    unsigned state = 7;
    for (int i = 0; i < COUNT; i++) {
        const float sure = draw(&state);
        truth[i] = draw(&state) < sure ? 1.0F : 0.0F;
        p[0][i] = sure;
        p[1][i] = (float)(int)(sure * 8) / 8; /* many alike */
    }
    for (int i = 0; i < 2; i++) {
        const mw_report_numbers numbers = {"<ill>", true, p[i], truth, COUNT};
        char *page = print_page(&numbers, 1);
        has(page, "Probability of &lt;ill&gt;");
        has(page, ">ROC curve</text>");
        has(page, ">Precision over recall</text>");
        has(page, ">Calibration</text>");
        check_areas(page, p[i], truth, COUNT);
        CHECK_INT(check_charts(page), 3);
        CHECK_INT(count_parts(page, "<circle "), i == 0 ? 10 : 8);
        CHECK(page != NULL && strlen(page) < 48000);
        mw_string_free(page);
    }
}

static void test_one_kind_has_no_curves(void)
{
    static const float p[] = {0.25F, 1, 0}, truth[] = {1, 1, 1};
    const mw_report_numbers numbers = {NULL, true, p, truth, 3};
    char *page = print_page(&numbers, 1);
    has(page, "3 of 3 examples are true.");
    CHECK(page != NULL && strstr(page, "ROC") == NULL);
    CHECK_INT(check_charts(page), 1);
    mw_string_free(page);
}

/* A model of two scores has them without being asked. */
static void test_two_classes_of_a_model_have_curves(void)
{
    enum { EXAMPLES = 101 };
    static float scores[EXAMPLES][2], p[EXAMPLES], truth[EXAMPLES];
    static int32_t labels[EXAMPLES];
    unsigned state = 3;
    mw_error err = {0};
    for (int i = 0; i < EXAMPLES; i++) {
        scores[i][0] = draw(&state);
        scores[i][1] = 2 * draw(&state);
        p[i] = (float)(1 / (1 + exp((double)scores[i][0] - (double)scores[i][1])));
        labels[i] = draw(&state) < p[i];
        truth[i] = (float)labels[i];
    }
    const mw_column columns[] = {{.name = "x", .dtype = MW_F32, .shape = MW_SHAPE(2), .data = scores},
                                 {.name = "y", .dtype = MW_I32, .data = labels}};
    mw_dataset *data = mw_dataset_create(columns, 2, EXAMPLES, true, &err);
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_output(mw_mul_scalar(mw_input(graph, "x", MW_F32, MW_SHAPE(4, 2)), 1), "scores");
    mw_model_options model_options = mw_model_defaults();
    model_options.batch = 4;
    mw_report_options options = mw_report_defaults();
    options.model = mw_model_create(graph, &model_options, &err);
    options.dataset = data;
    options.samples = 0;
    char *page = mw_report_print(&options, &err);
    CHECK_OK(err);
    has(page, "Probability of 1");
    check_areas(page, p, truth, EXAMPLES);
    mw_string_free(page);
    mw_model_destroy((mw_model *)options.model);
    mw_graph_destroy(graph);
    mw_dataset_destroy(data);
}

/* ---- refused ---- */

static void test_numbers_out_of_range_are_refused(void)
{
    static const float good[] = {0, 1}, half[] = {0, 0.5F}, high[] = {0, 1.5F}, none[] = {0, NAN};
    const mw_report_numbers rows[] = {{NULL, false, NULL, good, 2}, {NULL, false, good, NULL, 2},
                                      {NULL, false, good, good, 0}, {NULL, true, high, good, 2},
                                      {NULL, true, none, good, 2},  {NULL, true, good, half, 2}};
    const size_t count = sizeof rows / sizeof *rows;
    for (size_t i = 0; i < count + 2; i++) {
        mw_error err = {0};
        mw_report_options options = mw_report_defaults();
        options.numbers = i < count ? &rows[i] : i == count ? NULL : rows;
        options.number_count = i <= count ? 1 : 9;
        CHECK(mw_report_print(&options, &err) == NULL);
        check_note(err.status == MW_ERROR_ARGUMENT && strstr(err.message, "numbers") != NULL, __FILE__, __LINE__,
                   "%zu: %s", i, err.message);
    }
}

static void test_every_allocation_of_charts_may_fail(void)
{
    static const float p[] = {0.2F, 0.7F, 0.7F, 0.1F}, truth[] = {0, 1, 0, 1};
    const mw_report_numbers numbers[] = {{"a", false, p, truth, 4}, {"b", true, p, truth, 4}};
    bool whole = false;
    for (long n = 0; n < 300 && !whole; n++) {
        failing_allocator failing = {.fail_at = n};
        mw_allocator allocator = failing_allocator_of(&failing);
        mw_report_options options = mw_report_defaults();
        options.allocator = &allocator;
        options.numbers = numbers;
        options.number_count = 2;
        mw_error err = {0};
        whole = mw_report_write(&options, "report.html", &err) == MW_OK;
        CHECK(whole || err.status == MW_ERROR_MEMORY);
        CHECK_INT(failing.live, 0);
    }
    CHECK(whole);
}

int main(void)
{
    char folder[512];
    if (!folder_enter(folder))
        return 1;
    RUN(test_values_are_drawn_beside_what_is_true);
    RUN(test_long_names_are_cut_between_letters);
    RUN(test_odd_values_are_drawn_as_well);
    RUN(test_probabilities_have_curves);
    RUN(test_one_kind_has_no_curves);
    RUN(test_two_classes_of_a_model_have_curves);
    RUN(test_numbers_out_of_range_are_refused);
    RUN(test_every_allocation_of_charts_may_fail);
    folder_leave(folder);
    return check_finish();
}
