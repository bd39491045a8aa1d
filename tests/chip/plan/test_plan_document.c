/* What docs/chip_plan.md shows is what the plans say: the rows, figures of three programs, and their pictures
 * docs/plan_*.svg. MW_UPDATE_GOLDENS=1 writes all of it anew. */
#include "plan_properties.h"
#include "plan_text.h"
#include "support/check.h"
#include "support/chip/training_programs.h"
#include "support/folder.h"
#include "support/page.h"

#include <millwright/chip_all.h>
#include <millwright/inspect.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { LIMIT = 1 << 17 };

static char *read_document(char path[512])
{
    snprintf(path, 512, "%s/../docs/chip_plan.md", MW_TESTS_DIR);
    return page_read(path);
}

/* Between the two lines that name it the section is `wanted`; if it is not, and goldens are written, it becomes that.
 */
static void check_section(const char *name, const char *wanted)
{
    char path[512], begin[64], end[64];
    char *text = read_document(path);
    page whole = page_make((size_t)2 * LIMIT);
    snprintf(begin, sizeof begin, "<!-- begin %s -->\n", name);
    snprintf(end, sizeof end, "<!-- end %s -->\n", name);
    char *from = text != NULL ? strstr(text, begin) : NULL, *to = text != NULL ? strstr(text, end) : NULL;
    if (CHECK(from != NULL && to != NULL && whole.text != NULL)) {
        from += strlen(begin);
        page_put(&whole, "%.*s%s%s", (int)(from - text), text, wanted, to);
        page_check(path, whole.text);
    }
    page_free(&whole);
    free(text);
}

/* ---- rows ---- */

static void test_the_rows_of_the_document_are_those_of_the_library(void)
{
    page p = page_make(LIMIT);
    const mw_chip_plan_rule *r;
    REQUIRE(p.text != NULL);
    page_put(&p, "| row | what | becomes | pass of Apple's compiler | source |\n|---|---|---|---|---|\n");
    for (size_t i = 0; (r = mw_chip_plan_rule_at(i)) != NULL; i++)
        page_put(&p, "| `%s` | %s | %s | %s | %s |\n", r->id, r->pattern, r->becomes, r->pass != NULL ? r->pass : "",
                 r->source);
    check_section("rows", p.text);
    page_free(&p);
}

/* ---- three programs ---- */

#define ROW256 "tensor<fp16, [128, 256]> "
#define NORM(name, x)                                                                                                  \
    ROW256 name                                                                                                        \
        " = layer_norm(axes = tensor<int32, [1]>([1]), beta = gb, epsilon = fp16(0x1.4p-17), gamma = gb, x = " x "); "
#define LINEAR(name, x) HALF(name "w", "[256, 256]") ROW256 name " = linear(bias = gb, weight = " name "w, x = " x "); "
#define HEADS(name, x)                                                                                                 \
    LINEAR(name, x)                                                                                                    \
    "tensor<fp16, [128, 4, 64]> " name "s = reshape(shape = tensor<int32, [3]>([128, 4, 64]), x = " name "); "         \
    "tensor<fp16, [4, 128, 64]> " name "t = transpose(perm = tensor<int32, [3]>([1, 0, 2]), x = " name "s); "

/* A block of a transformer with constant weights: 128 tokens of 256 numbers, 4 heads. */
static const char block[] = HALF("gb", "[256]") NORM("n1", "x") HEADS("q", "n1") HEADS(
    "k",
    "n1") "tensor<fp16, [4, 128, 128]> scores = matmul(transpose_x = bool(false), transpose_y = bool(true), x = qt, y "
          "= kt); "
          "tensor<fp16, [4, 128, 128]> scaled = mul(x = scores, y = fp16(0.125)); "
          "tensor<fp16, [4, 128, 128]> probabilities = softmax(axis = int32(2), x = scaled); " HEADS(
              "v",
              "n1") "tensor<fp16, [4, 128, 64]> mixed = matmul(x = probabilities, y = vt); "
                    "tensor<fp16, [128, 4, 64]> back = transpose(perm = tensor<int32, [3]>([1, 0, 2]), x = mixed); "
                    "tensor<fp16, [128, 256]> joined = reshape(shape = tensor<int32, [2]>([128, 256]), x = "
                    "back); " LINEAR("o", "joined") ROW256
    "r1 = add(x = x, y = o); " NORM("n2", "r1") HALF("w1", "[1024, 256]") HALF("b1", "[1024]")
        HALF("w2", "[256, 1024]") "tensor<fp16, [128, 1024]> h = linear(bias = b1, weight = w1, x = n2); "
                                  "tensor<fp16, [128, 1024]> g = gelu(mode = string(\"EXACT\"), x = h); " ROW256
                                  "f = linear(bias = gb, weight = w2, x = g); " ROW256 "y = add(x = r1, y = f); ";

static void put_figures(page *p, const char *name, const mw_chip_plan *plan)
{
    const mw_chip_plan_totals t = mw_chip_plan_get_totals(plan);
    page_put(p, "| %s | %s | %zu | %zu | %zu | %zu | %zu | %zu | %lld | %lld | %lld | %.0f |\n", name,
             mw_chip_name(t.chip), t.ops - t.constants, t.layers, t.segments, t.partitions, t.splits, t.issued_pairs,
             (long long)t.on_chip_peak / 1024, (long long)t.streamed_bytes / 1024, (long long)t.weight_bytes / 1024,
             t.time_us);
}

static void check_picture(const char *stem, const char *chip, const mw_chip_plan *plan)
{
    char path[512];
    mw_error err = {0};
    char *svg = mw_chip_plan_print_svg(plan, &err);
    CHECK_OK(err);
    snprintf(path, sizeof path, "%s/../docs/plan_%s_%s.svg", MW_TESTS_DIR, stem, chip);
    if (svg != NULL)
        page_check(path, svg);
    mw_string_free(svg);
}

static void put_range(page *p, const mw_chip_plan *plan, const char *name)
{
    const mw_chip_time *t;
    for (size_t i = 0; (t = mw_chip_plan_time_at(plan, i)) != NULL; i++)
        if (strcmp(t->name, name) == 0)
            page_put(p, " %.2f to %.2f |", t->low_us * 1e-3, t->high_us * 1e-3);
}

/* Times of the chips that were measured, in milliseconds. */
static void show_times(page *p, const char *name, const mw_graph *graph)
{
    static const mw_chip chips[] = {MW_CHIP_H13, MW_CHIP_H16, MW_CHIP_H17, MW_CHIP_H18G};
    static const char *const products[] = {"M1", "M4", "M5", "M6"};
    for (size_t i = 0; graph != NULL && i < sizeof chips / sizeof *chips; i++) {
        mw_error err = {0};
        size_t shared = 0;
        mw_chip_plan *plan = mw_chip_plan_create(graph, chips[i], NULL, &err);
        CHECK_OK(err);
        for (size_t s = 0; mw_chip_plan_segment_at(plan, s) != NULL; s++)
            shared += mw_chip_plan_segment_at(plan, s)->engines > 1;
        page_put(p, "| %s | %s | %zu, %zu |", i == 0 ? name : "", products[i], mw_chip_plan_get_totals(plan).segments,
                 shared);
        put_range(p, plan, "a task at the highest clock");
        put_range(p, plan, "a step, back to back");
        put_range(p, plan, "a step, 0.4 ms and more apart");
        put_range(p, plan, "first step after 0.1 to 5.5 s of idling");
        page_put(p, "\n");
        mw_chip_plan_destroy(plan);
    }
}

/* Figures for h13 to h17, pictures of M1 and M5. */
static void show(page *p, const char *name, const char *stem, const mw_graph *graph)
{
    if (!check_note(graph != NULL, __FILE__, __LINE__, "%s: no program", name))
        return;
    for (mw_chip chip = MW_CHIP_H13; chip <= MW_CHIP_H17; chip = (mw_chip)(chip + 1)) {
        mw_error err = {0};
        mw_chip_plan *plan = mw_chip_plan_create(graph, chip, NULL, &err);
        CHECK_OK(err);
        plan_check_properties(plan, name);
        put_figures(p, chip == MW_CHIP_H13 ? name : "", plan);
        if (chip == MW_CHIP_H13 || chip == MW_CHIP_H17)
            check_picture(stem, chip == MW_CHIP_H13 ? "m1" : "m5", plan);
        mw_chip_plan_destroy(plan);
    }
}

static mw_graph *parse_block(void)
{
    static char text[1 << 15];
    mw_error err = {0};
    snprintf(text, sizeof text, "program(1.3)\n{func main<ios18>(tensor<fp16, [128, 256]> x) {%s} -> (y);}", block);
    mw_graph *graph = mw_graph_parse_mil(text, strlen(text), NULL, NULL, &err);
    CHECK_OK(err);
    return graph;
}

/* The guide's example of two layers at once is a softmax beside the product of the values. Where siblings of a branch
 * come first, that product is done before; else they are a pair. */
static void check_attention(const mw_graph *graph)
{
    mw_error err = {0};
    mw_chip_plan_options options = mw_chip_plan_defaults();
    options.branch_score = MW_CHIP_SCORE_NONE;
    mw_chip_plan *plan = mw_chip_plan_create(graph, MW_CHIP_H13, &options, &err);
    CHECK_OK(err);
    const mw_chip_layer *softmax = plan_layer(plan, "probabilities");
    const mw_chip_layer *partner = softmax != NULL ? mw_chip_plan_layer_at(plan, softmax->partner) : NULL;
    check_note(partner != NULL && strcmp(partner->name, "vt") == 0, __FILE__, __LINE__, "the partner of softmax is %s",
               partner != NULL ? partner->name : "none");
    mw_chip_plan_destroy(plan);
}

static void test_the_pictures_are_those_of_the_programs(void)
{
    struct stat found;
    if (stat(MW_DATA_DIR "/mnist", &found) != 0)
        SKIP("no MNIST");
    page p = page_make(LIMIT), times = page_make(LIMIT);
    char work[512];
    REQUIRE(p.text != NULL && times.text != NULL && folder_enter(work));
    page_put(&times,
             "| program | chip | dispatches, on both engines | task, ms | back to back | 0.4 ms and more apart | "
             "first after idling |\n|---|---|---|---|---|---|---|\n");
    page_put(&p, "| program | chip | operations | layers | dispatches | partitions | splits | pairs | on chip KB | "
                 "streamed KB | weights KB | us |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < 2; i++) {
        training_run(&training_examples[i]);
        const char *name = i == 0 ? "step of `mnist_mlp`" : "step of `mnist_cnn`";
        show(&p, name, i == 0 ? "mnist" : "cnn", training_last.graph);
        show_times(&times, name, training_last.graph);
    }
    mw_graph_destroy(training_last.graph);
    folder_leave(work);
    mw_graph *graph = parse_block();
    show(&p, "block of a transformer", "transformer", graph);
    show_times(&times, "block of a transformer", graph);
    check_attention(graph);
    mw_graph_destroy(graph);
    check_section("figures", p.text);
    check_section("times", times.text);
    page_free(&p);
    page_free(&times);
}

int main(void)
{
    RUN(test_the_rows_of_the_document_are_those_of_the_library);
    RUN(test_the_pictures_are_those_of_the_programs);
    return check_finish();
}
