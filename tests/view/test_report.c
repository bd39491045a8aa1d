/* Reports are whole pages that need nothing of elsewhere, say what is so, and are changed by no text that comes in. */
#include "networks.h"
#include "picture.h"
#include "support/check.h"
#include "support/failing.h"
#include "support/folder.h"

#include <millwright/data.h>
#include <millwright/report.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { SIDE = 8, EXAMPLES = 60, CLASSES = 3, BATCH = 8 };

static const char metrics[] =
    "{\"kind\":\"run\",\"format\":1,\"millwright\":\"0.1.0\",\"time\":\"2026-11-26T15:40:37Z\",\"device\":\"cpu\","
    "\"processor\":\"a <fast> one\",\"system\":\"Linux & more\",\"batch\":8,\"optimizer\":\"adam\"}\n"
    "{\"kind\":\"step\",\"step\":1,\"epoch\":1,\"seconds\":0.5,\"loss\":2.5,\"gradient_norm/fc.weight\":3}\n"
    "{\"kind\":\"step\",\"step\":2,\"epoch\":1,\"seconds\":75,\"loss\":1.25,\"gradient_norm/fc.weight\":2}\n"
    "{\"kind\":\"epoch\",\"step\":2,\"epoch\":1,\"validation/accuracy\":0.75}\n";
static const char refused[] =
    "{\"kind\":\"end\",\"step\":3,\"epoch\":1,\"seconds\":80,\"reason\":\"refused\",\"operation\":\"log\",\"tensor\":"
    "\"h<1>\",\"message\":\"the loss is nan\",\"replay\":\"run/replay\"}\n";

static bool has(const char *page, const char *part)
{
    return check_note(page != NULL && strstr(page, part) != NULL, __FILE__, __LINE__, "the page lacks %s", part);
}

static char *check_page(const mw_report_options *options)
{
    mw_error err = {0};
    char *page = mw_report_print(options, &err);
    CHECK_OK(err);
    if (page != NULL) {
        picture_is_xml(page, "a report");
        picture_is_alone(page, "a report");
        CHECK(strncmp(page, "<!DOCTYPE html>", 15) == 0);
        has(page, "@media print");
        has(page, "prefers-color-scheme:dark");
    }
    return page;
}

/* ---- data ---- */

/* A picture of class c has a bright column c; every seventh has the label of another class. */
static mw_dataset *pictures_make(mw_error *err)
{
    static unsigned char pixels[EXAMPLES][SIDE][SIDE];
    static unsigned char labels[EXAMPLES];
    for (int i = 0; i < EXAMPLES; i++) {
        labels[i] = (unsigned char)((i % 7 == 6 ? i + 1 : i) % CLASSES);
        for (int y = 0; y < SIDE; y++)
            for (int x = 0; x < SIDE; x++)
                pixels[i][y][x] = (unsigned char)(x == i % CLASSES ? 250 : 10 * y);
    }
    const mw_column columns[] = {
        {.name = "x", .dtype = MW_U8, .shape = MW_SHAPE(SIDE, SIDE), .scale = 1 / 255.0F, .data = pixels},
        {.name = "y", .dtype = MW_U8, .data = labels}};
    return mw_dataset_create(columns, 2, EXAMPLES, true, err);
}

typedef struct world {
    mw_graph *graph;
    mw_tensor *logits;
    mw_trainer *trainer;
    mw_dataset *data;
} world;

static bool world_init(world *w)
{
    mw_error err = {0};
    w->graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(w->graph, "x", MW_F32, MW_SHAPE(BATCH, SIDE * SIDE));
    mw_tensor *y = mw_input(w->graph, "y", MW_I32, MW_SHAPE(BATCH));
    w->logits = mw_dense(mw_relu(mw_dense(x, 16, "fc1")), CLASSES, "fc2");
    mw_output(w->logits, "logits");
    mw_trainer_options options = mw_trainer_defaults(mw_cross_entropy(w->logits, y), mw_adam(1e-2F));
    options.prediction = w->logits;
    options.compile.device = MW_DEVICE_CPU;
    w->trainer = mw_trainer_create(&options, &err);
    w->data = pictures_make(&err);
    mw_fit_options fit = mw_fit_defaults(w->data, 12);
    fit.progress.quiet = true;
    mw_trainer_fit(w->trainer, &fit, &err);
    return CHECK_OK(err);
}

static void world_deinit(world *w)
{
    mw_trainer_destroy(w->trainer);
    mw_dataset_destroy(w->data);
    mw_graph_destroy(w->graph);
}

/* ---- the whole ---- */

static void test_a_run_is_one_page(void)
{
    world w = {0};
    REQUIRE(world_init(&w));
    const mw_report_pair pairs[] = {{"layers", "fc1, fc2"}};
    mw_report_options options = mw_report_defaults();
    folder_put("metrics.jsonl", metrics);
    options.title = "A small run";
    options.metrics = "metrics.jsonl";
    options.graph = w.graph;
    options.trainer = w.trainer;
    options.prediction = w.logits;
    options.dataset = w.data;
    options.command = "mw train small.json \\\n    --data pictures";
    options.configuration = pairs;
    options.configuration_count = 1;
    char *page = check_page(&options);
    static const char *const parts[] = {"<h2>Curves</h2>",
                                        "<h2>Classes</h2>",
                                        "<h2>Examples</h2>",
                                        "<h2>Network</h2>",
                                        "<h2>Memory and time</h2>",
                                        "<h2>Configuration</h2>",
                                        "<h2>Environment</h2>",
                                        "<h2>What makes it again</h2>",
                                        ">fc.weight</text>",
                                        "data:image/png;base64,",
                                        "a &lt;fast&gt; one",
                                        "1 min 15 s",
                                        "--data pictures",
                                        "<th>layers</th>",
                                        "killed, or still running",
                                        "Seen wrong",
                                        "Seen right"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        has(page, parts[i]);
    CHECK(page != NULL && strlen(page) < 400000);
    mw_string_free(page);
    world_deinit(&w);
}

static void test_nothing_given_is_an_empty_page(void)
{
    mw_report_options options = mw_report_defaults();
    char *page = check_page(&options);
    CHECK(page != NULL && strstr(page, "<section>") == NULL);
    mw_string_free(page);
}

static void test_a_refused_step_is_explained(void)
{
    char text[sizeof metrics + sizeof refused];
    mw_report_options options = mw_report_defaults();
    snprintf(text, sizeof text, "%s%s", metrics, refused);
    folder_put("metrics.jsonl", text);
    options.metrics = "metrics.jsonl";
    char *page = check_page(&options);
    has(page, "<h2>Why a step was refused</h2>");
    has(page, "<td>log</td>");
    has(page, "h&lt;1&gt;");
    has(page, "run/replay");
    mw_string_free(page);
}

/* ---- counts ---- */

/* A model whose scores are its input: what it sees is known. */
static void test_counts_are_those_of_the_predictions(void)
{
    enum { N = 37 };
    static float scores[N][CLASSES];
    static int32_t labels[N];
    int64_t hits = 0, confusions = 0;
    mw_error err = {0};
    for (int i = 0; i < N; i++) {
        const int seen = i * i % CLASSES;
        labels[i] = i % 5 % CLASSES;
        for (int c = 0; c < CLASSES; c++)
            scores[i][c] = c == seen ? 3.0F : 0.25F * (float)c;
        hits += labels[i] == seen;
        confusions += labels[i] == 2 && seen == 1;
    }
    const mw_column columns[] = {{.name = "features", .dtype = MW_F32, .shape = MW_SHAPE(CLASSES), .data = scores},
                                 {.name = "class", .dtype = MW_I32, .data = labels}};
    mw_dataset *data = mw_dataset_create(columns, 2, N, true, &err);
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_output(mw_mul_scalar(mw_input(graph, "x", MW_F32, MW_SHAPE(4, CLASSES)), 1.5), "scores");
    mw_model_options model_options = mw_model_defaults();
    model_options.batch = 4;
    mw_model *model = mw_model_create(graph, &model_options, &err);
    CHECK_OK(err);
    const char *const names[] = {"none", "<one>", "two & more"};
    mw_report_options options = mw_report_defaults();
    options.model = model;
    options.dataset = data;
    options.picture = "features";
    options.label = "class";
    options.class_names = names;
    options.class_count = CLASSES;
    options.samples = 2;
    char *page = check_page(&options), part[96];
    snprintf(part, sizeof part, ">%lld of %d examples are seen right", (long long)hits, N);
    has(page, part);
    snprintf(part, sizeof part, "two &amp; more seen as &lt;one&gt;: %lld<", (long long)confusions);
    has(page, part);
    has(page, "<code>");
    mw_string_free(page);
    mw_model_destroy(model);
    mw_graph_destroy(graph);
    mw_dataset_destroy(data);
}

static void test_counts_that_are_given_are_shown(void)
{
    static const int64_t counts[] = {8, 2, 1, 9};
    mw_report_options options = mw_report_defaults();
    options.confusion = counts;
    options.class_count = 2;
    char *page = check_page(&options);
    has(page, "17 of 20 examples are seen right: <b>85.00 %</b>");
    has(page, "<td class=\"n\">88.9 %</td><td class=\"n\">80.0 %</td><td class=\"n\">84.2 %</td>");
    mw_string_free(page);
}

static void test_many_classes_have_a_list_instead_of_a_picture(void)
{
    enum { MANY = 300 };
    static int64_t counts[MANY * MANY];
    for (int i = 0; i < MANY; i++)
        counts[i * MANY + i] = 5;
    counts[7 * MANY + 9] = 3;
    mw_report_options options = mw_report_defaults();
    options.confusion = counts;
    options.class_count = MANY;
    char *page = check_page(&options);
    CHECK(page != NULL && strstr(page, "class=\"matrix\"") == NULL);
    has(page, "<tr><td>7</td><td>9</td><td class=\"n\">3</td></tr>");
    mw_string_free(page);
}

/* ---- pictures ---- */

static size_t decode(const char *text, unsigned char *out)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned bits = 0, count = 0;
    size_t used = 0;
    for (; *text != '"' && *text != '='; text++) {
        bits = bits << 6 | (unsigned)(strchr(letters, *text) - letters);
        count += 6;
        if (count >= 8) {
            count -= 8;
            out[used++] = (unsigned char)(bits >> count);
        }
    }
    return used;
}

/* libpng reads what stands in the page, and finds the pixels of the data set. */
static void test_pictures_of_a_page_are_png(void)
{
    world w = {0};
    static unsigned char bytes[1 << 16];
    mw_error err = {0};
    REQUIRE(world_init(&w));
    mw_report_options options = mw_report_defaults();
    options.trainer = w.trainer;
    options.prediction = w.logits;
    options.dataset = w.data;
    char *page = check_page(&options);
    const char *first = page != NULL ? strstr(page, "Seen right") : NULL;
    first = first != NULL ? strstr(first, "base64,") : NULL;
    REQUIRE(first != NULL);
    const size_t size = decode(first + strlen("base64,"), bytes);
    CHECK(mkdir("png", 0700) == 0 && mkdir("png/a", 0700) == 0);
    FILE *file = fopen("png/a/1.png", "wb");
    fwrite(bytes, 1, size, file);
    fclose(file);
    mw_image_options gray = mw_image_defaults();
    gray.channels = 1;
    mw_dataset *read = mw_dataset_open_images("png", &gray, &err);
    if (read == NULL && err.status == MW_ERROR_UNSUPPORTED)
        SKIP("%s", err.message);
    CHECK_OK(err);
    REQUIRE(read != NULL);
    const mw_column *column = mw_dataset_column_at(read, 0);
    const int example = (int)strtol(strstr(first, ">example ") + strlen(">example "), NULL, 10);
    CHECK(mw_shape_equal(column->shape, MW_SHAPE(SIDE, SIDE)) && column->data != NULL);
    for (int i = 0; column->data != NULL && i < SIDE * SIDE; i++)
        CHECK_INT(((const unsigned char *)column->data)[i], i % SIDE == example % CLASSES ? 250 : 10 * (i / SIDE));
    mw_dataset_destroy(read);
    mw_string_free(page);
    world_deinit(&w);
}

/* ---- hostile ---- */

static void test_no_text_changes_the_page(void)
{
    static const int64_t counts[] = {1, 2, 3, 4};
    const char *const names[] = {"</td><script>alert(1)</script>", "\" onload=\"x\xff\x01"};
    const mw_report_pair pairs[] = {{"<b>", "</table><img src=\"//elsewhere/\">"}, {"", "]]>"}};
    mw_report_options options = mw_report_defaults();
    folder_put("metrics.jsonl",
               "{\"kind\":\"run\",\"format\":1,\"system\":\"<script src='x'>\",\"a\\u0007b\":\"\\u001b[31m\"}\n"
               "{\"</text><script>\":1,\"step\":1}\n{\"</text><script>\":2,\"step\":2}\n");
    options.title = "</title><script>";
    options.metrics = "metrics.jsonl";
    options.confusion = counts;
    options.class_count = 2;
    options.class_names = names;
    options.configuration = pairs;
    options.configuration_count = 2;
    options.command = "rm '<x>' && </pre> \"\n\n-- end";
    char *page = check_page(&options);
    CHECK(page != NULL && strstr(page, "elsewhere") != NULL); /* as text */
    mw_string_free(page);
}

static void test_options_out_of_range_are_refused(void)
{
    static const int64_t counts[] = {1, -2, 3, 4};
    const char *const others[] = {NULL};
    world w = {0};
    REQUIRE(world_init(&w));
    for (int i = 0; i < 8; i++) {
        mw_error err = {0};
        mw_report_options options = mw_report_defaults();
        options.samples = i == 0 ? 65 : i == 1 ? -1 : 8;
        options.confusion = i == 2 || i == 3 ? counts : NULL;
        options.class_count = i == 2 ? 2 : i == 3 ? 1 : 0;
        options.others = others;
        options.other_count = i == 4 ? 1 : 0;
        options.picture = i == 5 ? NULL : "x";
        options.label = i == 7 ? "z" : "y";
        options.trainer = i >= 6 ? w.trainer : NULL;
        options.dataset = i >= 6 ? w.data : NULL;
        options.prediction = i == 7 ? w.logits : NULL;
        CHECK(mw_report_print(&options, &err) == NULL);
        check_note(err.status == MW_ERROR_ARGUMENT, __FILE__, __LINE__, "%d: %s", i, err.message);
    }
    world_deinit(&w);
}

static void test_every_allocation_may_fail(void)
{
    static const int64_t counts[] = {8, 2, 1, 9};
    bool whole = false;
    folder_put("metrics.jsonl", metrics);
    for (long n = 0; n < 3000 && !whole; n++) {
        failing_allocator failing = {.fail_at = n};
        mw_allocator allocator = failing_allocator_of(&failing);
        mw_report_options options = mw_report_defaults();
        options.allocator = &allocator;
        options.metrics = "metrics.jsonl";
        options.confusion = counts;
        options.class_count = 2;
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
    RUN(test_a_run_is_one_page);
    RUN(test_nothing_given_is_an_empty_page);
    RUN(test_a_refused_step_is_explained);
    RUN(test_counts_are_those_of_the_predictions);
    RUN(test_counts_that_are_given_are_shown);
    RUN(test_many_classes_have_a_list_instead_of_a_picture);
    RUN(test_pictures_of_a_page_are_png);
    RUN(test_no_text_changes_the_page);
    RUN(test_options_out_of_range_are_refused);
    RUN(test_every_allocation_may_fail);
    folder_leave(folder);
    return check_finish();
}
