/* Curves of metrics files: what is read, which charts there are, that texts have room, and what hostile files do. */
#include "picture.h"
#include "support/check.h"
#include "support/failing.h"
#include "support/folder.h"
#include "support/meter.h"

#include <math.h>
#include <millwright/plot.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* As mw_trainer_fit writes it, with a step that was refused. */
static void put_run(const char *path, int steps, double level)
{
    FILE *file = fopen(path, "wb");
    fprintf(file, "{\"kind\":\"run\",\"format\":1,\"time\":\"2026-11-26T15:40:37Z\",\"batch\":32}\n");
    for (int i = 1; i <= steps; i++) {
        fprintf(file, "{\"kind\":\"step\",\"step\":%d,\"epoch\":%d,\"seconds\":%g,", i * 10, i / 20 + 1, i * 0.5);
        if (i % 37 == 36)
            fprintf(file, "\"loss\":null,\"learning_rate\":0.001,\"non_finite\":{\"loss\":\"nan\"}}\n");
        else
            fprintf(file,
                    "\"loss\":%.6g,\"learning_rate\":%g,\"gradient_norm\":%g,\"gradient_norm/fc1.weight\":%g,"
                    "\"gradient_norm/fc2.weight\":%g,\"refused_steps\":0,\"loss_scale\":1024}\n",
                    level * exp(-i / 30.0) + 0.05, 0.001 * cos(i / 100.0), level / i, level / i * 0.7, level / i * 0.5);
        if (i % 20 == 0)
            fprintf(file,
                    "{\"kind\":\"epoch\",\"step\":%d,\"epoch\":%d,\"loss\":%g,\"validation/loss\":%g,"
                    "\"validation/accuracy\":%g,\"best\":1}\n",
                    i * 10, i / 20, level * exp(-i / 30.0), level * exp(-i / 28.0), 1 - exp(-i / 25.0));
    }
    fprintf(file, "{\"kind\":\"end\",\"step\":%d,\"reason\":\"finished\"}\n", steps * 10);
    fclose(file);
}

static char *check_plot(const char *path, const mw_plot_options *options)
{
    mw_error err = {0};
    char *svg = mw_plot_print_svg(path, options, &err);
    CHECK_OK(err);
    if (svg != NULL) {
        picture_is_xml(svg, path);
        picture_is_alone(svg, path);
        picture_check_texts(svg, path);
    }
    return svg;
}

static size_t count(const char *text, const char *part)
{
    size_t found = 0;
    for (; (text = strstr(text, part)) != NULL; text++)
        found++;
    return found;
}

/* ---- what is drawn ---- */

static void test_a_run_has_a_chart_for_what_belongs_together(void)
{
    put_run("run.jsonl", 120, 2.0);
    char *svg = check_plot("run.jsonl", NULL);
    REQUIRE(svg != NULL);
    CHECK_INT(count(svg, "font-weight=\"bold\">"), 5); /* loss, learning rate, both of gradients, accuracy */
    CHECK(strstr(svg, ">validation</text>") != NULL);
    CHECK(strstr(svg, ">training</text>") != NULL);
    CHECK(strstr(svg, ">Learning rate</text>") != NULL);
    CHECK(strstr(svg, ">step</text>") != NULL); /* what the axis counts */
    CHECK(strstr(svg, ">fc1.weight</text>") != NULL);
    CHECK(strstr(svg, "refused_steps") == NULL && strstr(svg, ">seconds<") == NULL &&
          strstr(svg, "loss_scale") == NULL);
    CHECK_INT(count(svg, "class=\"bad\""), 3); /* steps 36, 73, 110 */
    mw_string_free(svg);
}

static void test_runs_are_compared_in_one_chart(void)
{
    mw_plot_options options = mw_plot_defaults();
    const char *const others[] = {"slow/metrics.jsonl", "wild/metrics.jsonl"}, *const series[] = {"loss", "*accuracy"};
    CHECK(mkdir("fast", 0700) == 0 && mkdir("slow", 0700) == 0 && mkdir("wild", 0700) == 0);
    put_run("fast/metrics.jsonl", 60, 1.0);
    put_run("slow/metrics.jsonl", 100, 2.0);
    put_run("wild/metrics.jsonl", 30, 9.0);
    options.others = others;
    options.other_count = 2;
    options.series = series;
    options.series_count = 2;
    options.title = "Three runs & <more>";
    options.log_scale = true;
    options.smoothing = 0.8;
    char *svg = check_plot("fast/metrics.jsonl", &options);
    REQUIRE(svg != NULL);
    CHECK(strstr(svg, ">fast</text>") != NULL);
    CHECK(strstr(svg, ">wild</text>") != NULL);
    CHECK(strstr(svg, "Three runs &amp; &lt;more&gt;") != NULL);
    CHECK_INT(count(svg, "opacity=\"0.3\""), 2);
    mw_string_free(svg);
}

static void test_csv_of_others_is_drawn(void)
{
    folder_put("log.csv",
               "step,loss,\"acc, top \"\"1\"\"\",note\r\n1,0.5,0.25,first\r\n2,nan,,\r\n3,0.125,0.75,\"a\nb\"\r\n");
    char *svg = check_plot("log.csv", NULL);
    REQUIRE(svg != NULL);
    CHECK(strstr(svg, ">Acc, top &quot;1&quot;</text>") != NULL);
    CHECK_INT(count(svg, "class=\"bad\""), 1);
    mw_string_free(svg);
}

/* Of a million points as many are drawn as there are pixels, with the extremes of each. */
static void test_of_many_points_extremes_are_drawn(void)
{
    FILE *file = fopen("long.csv", "wb");
    fprintf(file, "loss\n");
    for (int i = 0; i < 200000; i++)
        fprintf(file, "%d\n", i == 123456 ? 1000 : i % 2);
    fclose(file);
    mw_plot_options options = mw_plot_defaults();
    char *svg = check_plot("long.csv", &options);
    REQUIRE(svg != NULL);
    CHECK(strlen(svg) < 100000);
    CHECK(strstr(svg, ">1000</text>") != NULL); /* the one peak sets the axis */
    const char *path = strstr(svg, "class=\"l0\"");
    CHECK(path != NULL && count(path, "L") > 1000 && count(path, "L") < 8000);
    mw_string_free(svg);
}

static void test_axes_have_round_numbers_for_any_values(void)
{
    static const char *const files[] = {"a\n1\n1\n1\n",
                                        "a\n-1e300\n1e300\n",
                                        "a\n1e-300\n2e-300\n",
                                        "a\n0.1\n0.10000001\n",
                                        "a\n-3\n17\n",
                                        "a\n1e9\n1.5e9\n",
                                        "a\ninf\nnan\n-inf\n",
                                        "a\n5\n",
                                        "step,a\n-5,1\n1e18,2\n",
                                        "a\n123456\n123457\n",
                                        "a\n1e308\n-1e308\n"};
    mw_plot_options options = mw_plot_defaults();
    for (size_t i = 0; i < 2 * sizeof files / sizeof *files; i++) {
        folder_put("values.csv", files[i / 2]);
        options.log_scale = i % 2 == 1;
        mw_string_free(check_plot("values.csv", &options));
    }
}

static void test_of_many_names_the_largest_are_drawn(void)
{
    FILE *file = fopen("many.jsonl", "wb");
    for (int step = 1; step <= 3; step++) {
        fprintf(file, "{\"step\":%d", step);
        for (int i = 0; i < 60; i++)
            fprintf(file, ",\"gradient_norm/a layer with a name of some length %d.weight\":%d", i, i * step);
        fprintf(file, "}\n");
    }
    fclose(file);
    mw_plot_options options = mw_plot_defaults();
    for (options.width = 320; options.width < 1300; options.width += 240) {
        char *svg = check_plot("many.jsonl", &options); /* the first is 0 all the time */
        REQUIRE(svg != NULL);
        CHECK(strstr(svg, ">51 not shown</text>") != NULL);
        mw_string_free(svg);
    }
}

/* ---- files that are not whole ---- */

static void check_refused(const char *content, int line, int column, const char *part)
{
    mw_error err = {0};
    folder_put("bad", content);
    char *svg = mw_plot_print_svg("bad", NULL, &err);
    check_note(svg == NULL, __FILE__, __LINE__, "accepted: %.60s", content);
    check_note(strstr(err.message, part) != NULL, __FILE__, __LINE__, "\"%s\" does not say %s", err.message, part);
    if (line > 0) {
        CHECK_INT(err.text_line, line);
        CHECK_INT(err.text_column, column);
    }
    mw_string_free(svg);
}

static void test_errors_have_line_and_column(void)
{
    check_refused("{\"loss\":1}\n{\"loss\":1,}\n{\"loss\":2}\n", 2, 11, "line 2");
    check_refused("{\"loss\":1}\n[1]\n\n", 2, 1, "object");
    check_refused("{\"loss\":1,\"loss\":2}\n", 1, 11, "line 1");
    check_refused("a,b\n1,2\n1\n", 3, 1, "fewer");
    check_refused("a,b\n1,2\n1,2,3\n", 3, 1, "more");
    check_refused("a,a\n1,2\n", 1, 1, "two columns");
    check_refused("a,b\n1,x\"y\n2,3\n", 2, 4, "quote");
    check_refused("a,\"b\"c\n1,2\n", 1, 6, "quotes");
    check_refused("a\n\xff\n1\n", 2, 1, "UTF-8");
    check_refused("", 1, 1, "no records");
    check_refused("   \n\n", 1, 1, "no records");
    check_refused("a\nword\n", 0, 0, "no numbers");
    check_refused("{\"kind\":\"run\",\"batch\":3}\n", 0, 0, "no numbers");
}

static void test_a_line_that_a_killed_run_left_is_passed(void)
{
    folder_put("killed.jsonl", "{\"step\":1,\"loss\":1}\n{\"step\":2,\"loss\":0.5}\n{\"step\":3,\"lo");
    mw_string_free(check_plot("killed.jsonl", NULL));
    folder_put("killed.csv", "step,loss\n1,1\n2,0.5\n3,\"0");
    mw_string_free(check_plot("killed.csv", NULL));
    folder_put("killed.csv", "step,loss\n1,1\n2,0.5\n3,0.2");
    mw_string_free(check_plot("killed.csv", NULL));
}

static void test_patterns_that_match_nothing_list_the_names(void)
{
    mw_error err = {0};
    mw_plot_options options = mw_plot_defaults();
    const char *const series[] = {"los"};
    options.series = series;
    options.series_count = 1;
    put_run("run.jsonl", 3, 1.0);
    CHECK(mw_plot_print_svg("run.jsonl", &options, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "loss, learning_rate");
}

static void test_options_out_of_range_are_refused(void)
{
    static const struct {
        double smoothing;
        int columns, width;
        size_t others;
    } rows[] = {{1.0, 0, 960, 0}, {-0.1, 0, 960, 0}, {(double)NAN, 0, 960, 0}, {0, 7, 960, 0}, {0, -1, 960, 0},
                {0, 0, 319, 0},   {0, 0, 4001, 0},   {0, 0, 960, 8},           {0, 0, 960, 1}};
    put_run("run.jsonl", 3, 1.0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mw_error err = {0};
        mw_plot_options options = mw_plot_defaults();
        options.smoothing = rows[i].smoothing;
        options.columns = rows[i].columns;
        options.width = rows[i].width;
        options.other_count = rows[i].others;
        CHECK(mw_plot_print_svg("run.jsonl", &options, &err) == NULL);
        CHECK_INT(err.status, MW_ERROR_ARGUMENT);
    }
}

/* ---- memory ---- */

static void check_memory(const char *text, size_t size)
{
    meter m = {0};
    const mw_allocator allocator = {.resize = meter_resize, .user = &m};
    mw_plot_options options = mw_plot_defaults();
    options.allocator = &allocator;
    FILE *file = fopen("big", "wb");
    fwrite(text, 1, size, file);
    fclose(file);
    mw_error err = {0};
    mw_plot_write_svg("big", "big.svg", &options, &err);
    check_note(m.most <= 64 * size + (16 << 20), __FILE__, __LINE__, "%zu bytes for a file of %zu: %.40s", m.most, size,
               text);
    CHECK_INT(m.held, 0);
}

static void test_memory_is_a_multiple_of_the_file(void)
{
    enum { SIZE = 3 << 20 };
    static char text[SIZE + 64];
    size_t used = 0;
    for (int i = 0; used < SIZE; i++) /* a name for each record */
        used += (size_t)sprintf(text + used, "{\"%x\":1}\n", i % 19000);
    check_memory(text, used);
    used = (size_t)sprintf(text, "a\n");
    while (used < SIZE)
        used += (size_t)sprintf(text + used, "1\n");
    check_memory(text, used);
    used = 0;
    for (int i = 0; used < SIZE; i++) /* more columns than there may be */
        used += (size_t)sprintf(text + used, "%x,", i);
    check_memory(text, used);
    memset(text, ',', SIZE);
    check_memory(text, SIZE);
    used = (size_t)sprintf(text, "{\"kind\":\"run\"");
    for (int i = 0; used < SIZE; i++)
        used += (size_t)sprintf(text + used, ",\"%x\":\"\"", i);
    used += (size_t)sprintf(text + used, "}\n");
    check_memory(text, used);
}

static void test_every_allocation_may_fail(void)
{
    bool whole = false;
    put_run("run.jsonl", 5, 1.0);
    for (long n = 0; n < 3000 && !whole; n++) {
        failing_allocator failing = {.fail_at = n};
        mw_allocator allocator = failing_allocator_of(&failing);
        mw_plot_options options = mw_plot_defaults();
        options.allocator = &allocator;
        mw_error err = {0};
        whole = mw_plot_write_svg("run.jsonl", "run.svg", &options, &err) == MW_OK;
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
    RUN(test_a_run_has_a_chart_for_what_belongs_together);
    RUN(test_runs_are_compared_in_one_chart);
    RUN(test_csv_of_others_is_drawn);
    RUN(test_of_many_points_extremes_are_drawn);
    RUN(test_axes_have_round_numbers_for_any_values);
    RUN(test_of_many_names_the_largest_are_drawn);
    RUN(test_errors_have_line_and_column);
    RUN(test_a_line_that_a_killed_run_left_is_passed);
    RUN(test_patterns_that_match_nothing_list_the_names);
    RUN(test_options_out_of_range_are_refused);
    RUN(test_memory_is_a_multiple_of_the_file);
    RUN(test_every_allocation_may_fail);
    folder_leave(folder);
    return check_finish();
}
