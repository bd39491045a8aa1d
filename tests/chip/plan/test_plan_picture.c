/* Texts in the pictures of plans lie in the picture and not over one another, however close layers, partitions and
 * dispatches are. */
#include "plan_text.h"
#include "support/check.h"

#include <millwright/chip_all.h>
#include <millwright/millwright.h>
#include <stdlib.h>
#include <string.h>

enum { LABELS = 4096, WIDTH = 1280 };

typedef struct label {
    double from, to, y;
    const char *text; /* up to the next '<' */
} label;

static double attribute(const char *element, const char *end, const char *name, double otherwise)
{
    const char *at = strstr(element, name);
    return at != NULL && at < end ? strtod(at + strlen(name), NULL) : otherwise;
}

static bool has(const char *element, const char *end, const char *part)
{
    const char *at = strstr(element, part);
    return at != NULL && at < end;
}

/* A letter is taken for 0.62 of its height, a little more than the mean of digits and small letters in a wide font. */
static label read_label(const char *element)
{
    const char *end = strchr(element, '>');
    const double size = attribute(element, end, "font-size=\"", 12);
    const double width = 0.62 * size * (double)strcspn(end + 1, "<");
    const double x = attribute(element, end, " x=\"", -1);
    const double part = has(element, end, "=\"end\"") ? 1 : has(element, end, "=\"middle\"") ? 0.5 : 0;
    return (label){.from = x - part * width,
                   .to = x + (1 - part) * width,
                   .y = attribute(element, end, " y=\"", -1),
                   .text = end + 1};
}

static size_t read_labels(const char *svg, label labels[LABELS])
{
    size_t count = 0;
    for (const char *at = svg; count < LABELS && (at = strstr(at, "<text ")) != NULL; at++)
        labels[count++] = read_label(at);
    return count;
}

static void check_pair(const label *a, const label *b)
{
    check_note(a->y != b->y || a->to <= b->from || b->to <= a->from, __FILE__, __LINE__, "\"%.*s\" is over \"%.*s\"",
               (int)strcspn(a->text, "<"), a->text, (int)strcspn(b->text, "<"), b->text);
}

/* How many texts the picture has, all of them checked. */
static size_t check_picture(const mw_chip_plan *plan)
{
    static label labels[LABELS];
    mw_error err = {0};
    char *svg = mw_chip_plan_print_svg(plan, &err);
    CHECK_OK(err);
    const size_t count = svg != NULL ? read_labels(svg, labels) : 0;
    const double height = count > 0 ? strtod(strstr(svg, "0 0 1280 ") + strlen("0 0 1280 "), NULL) : 0;
    for (size_t i = 0; i < count; i++) {
        const label *l = &labels[i];
        check_note(l->from >= 0 && l->to <= WIDTH && l->y > 0 && l->y < height, __FILE__, __LINE__,
                   "\"%.*s\" leaves the picture", (int)strcspn(l->text, "<"), l->text);
        for (size_t k = 0; k < i; k++)
            check_pair(&labels[k], l);
    }
    mw_string_free(svg);
    return count;
}

/* Attention is cut out on this chip, so that each adds a bridge and a dispatch behind it. */
static mw_tensor *put_bridge(mw_graph *graph, mw_tensor *x, mw_error *err)
{
    mw_tensor *h = mw_relu(x), *attention[1] = {NULL};
    const mw_argument arguments[] = {{"query", &h, 1}, {"key", &h, 1}, {"value", &h, 1}};
    mw_op(graph, "scaled_dot_product_attention", arguments, 3, attention, 1, err);
    return mw_add(mw_tanh(attention[0]), h);
}

static mw_chip_plan *plan_of(size_t bridges, size_t layers)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *h = mw_input(graph, "x", MW_F16, MW_SHAPE(1, 2, 64, 64));
    for (size_t i = 0; i < bridges; i++)
        h = put_bridge(graph, h, &err);
    for (size_t i = 0; i < layers; i++)
        h = mw_softmax(h, 3);
    mw_output(h, "y");
    mw_chip_plan *plan = mw_chip_plan_create(graph, MW_CHIP_H13, NULL, &err);
    CHECK_OK(err);
    mw_graph_destroy(graph);
    return plan;
}

static void check_plan(size_t bridges, size_t layers)
{
    mw_chip_plan *plan = plan_of(bridges, layers);
    if (CHECK(plan != NULL)) {
        CHECK_INT(mw_chip_plan_get_totals(plan).segments, 2 * bridges + 1);
        CHECK(check_picture(plan) > 10);
    }
    mw_chip_plan_destroy(plan);
}

static void test_labels_of_dispatches_have_room(void)
{
    for (size_t bridges = 1; bridges <= 64; bridges *= 2)
        check_plan(bridges, 1);
}

static void test_a_dispatch_at_the_right_edge_stays_in_the_picture(void)
{
    check_plan(1, 2000); /* the bridge first: close to the left edge */
    check_plan(200, 1);
}

/* Values of four digits of one allocation, and partitions of four. */
static void test_thousands_of_layers_have_room(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *h = mw_input(graph, "x", MW_F16, MW_SHAPE(1, 16, 256, 256));
    for (size_t i = 0; i < 1500; i++)
        h = mw_softmax(h, i % 2 == 0 ? 3 : 1);
    mw_output(h, "y");
    mw_chip_plan *plan = mw_chip_plan_create(graph, MW_CHIP_H13, NULL, &err);
    CHECK_OK(err);
    if (CHECK(plan != NULL))
        CHECK(check_picture(plan) > 10);
    mw_chip_plan_destroy(plan);
    mw_graph_destroy(graph);
}

/* Numbers of many digits under the axis. */
static void test_years_of_work_have_room(void)
{
    const char *inputs = "tensor<fp16, [1000000, 1000000, 1000000]> x";
    const char *body = "tensor<fp16, [1000000, 1000000, 1000000]> a = softmax(axis = int32(1), x = x); tensor<fp16, "
                       "[1000000, 1000000, 1000000]> y = add(x = a, y = x);";
    mw_chip_plan *plan = plan_of_text(inputs, body, "y", MW_CHIP_H17, NULL);
    if (CHECK(plan != NULL))
        CHECK(check_picture(plan) > 10);
    mw_chip_plan_destroy(plan);
}

int main(void)
{
    RUN(test_labels_of_dispatches_have_room);
    RUN(test_a_dispatch_at_the_right_edge_stays_in_the_picture);
    RUN(test_thousands_of_layers_have_room);
    RUN(test_years_of_work_have_room);
    return check_finish();
}
