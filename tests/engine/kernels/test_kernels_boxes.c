/* non_maximum_suppression: which boxes stay, in the forms of both opsets, with ties, classes, thresholds and NaN. */
#include "engine/kernel_case.h"
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const uint64_t thread_counts[] = {1, 3};

enum { BOXES = 5, MOST = 4 };

/* Squares of side 2: 1 overlaps 0 by 1 / 3, 2 is 1 again, 3 is apart, 4 touches 3. */
static const float squares[BOXES][4] = {{0, 0, 2, 2}, {1, 0, 2, 2}, {1, 0, 2, 2}, {9, 9, 2, 2}, {11, 9, 2, 2}};

typedef struct kept {
    float boxes[MOST][4], scores[MOST][2];
    int32_t indices[MOST], count;
} kept;

static bool run(const float boxes[BOXES][4], const float scores[BOXES][2], const char *numbers, uint64_t threads,
                kept *out)
{
    char text[1600];
    snprintf(text, sizeof text,
             "program(1.3)\n[buildInfo = dict<string, string>({{\"coremlc-version\", \"1\"}})]\n{\n"
             "    func main<ios16>(tensor<fp32, [1, 5, 4]> boxes, tensor<fp32, [1, 5, 2]> scores) {\n"
             "        tensor<fp32, [1, 4, 4]> b, tensor<fp32, [1, 4, 2]> s, tensor<int32, [1, 4]> i, "
             "tensor<int32, [1]> n = non_maximum_suppression(boxes = boxes, max_boxes = int32(4), scores = scores, "
             "%s);\n    } -> (b, s, i, n);\n}\n",
             numbers);
    const kernel_port in[] = {{"boxes", (void *)(uintptr_t)boxes, sizeof(float) * BOXES * 4},
                              {"scores", (void *)(uintptr_t)scores, sizeof(float) * BOXES * 2}};
    const kernel_port results[] = {{"b", out->boxes, sizeof out->boxes},
                                   {"s", out->scores, sizeof out->scores},
                                   {"i", out->indices, sizeof out->indices},
                                   {"n", &out->count, sizeof out->count}};
    return kernel_run(text, threads, in, 2, results, 4);
}

static void check_kept(const float boxes[BOXES][4], const float scores[BOXES][2], const char *numbers, int count,
                       const int *indices)
{
    for (int t = 0; t < 2; t++) {
        kept k;
        REQUIRE(run(boxes, scores, numbers, thread_counts[t], &k));
        CHECK_INT(k.count, count);
        for (int m = 0; m < MOST; m++) {
            const int b = m < count ? indices[m] : -1;
            CHECK_INT(k.indices[m], b);
            for (int e = 0; e < 4; e++)
                CHECK(b < 0 ? k.boxes[m][e] == 0.0f : memcmp(&k.boxes[m][e], &boxes[b][e], sizeof(float)) == 0);
            for (int e = 0; e < 2; e++)
                CHECK(b < 0 ? k.scores[m][e] == 0.0f : memcmp(&k.scores[m][e], &scores[b][e], sizeof(float)) == 0);
        }
    }
}

static void test_the_best_stays_and_of_equals_the_first(void)
{
    const float scores[BOXES][2] = {{0.1f, 0.2f}, {0.7f, 0.1f}, {0.7f, 0.1f}, {0.3f, 0.1f}, {0.0f, 0.3f}};
    check_kept(squares, scores, "iou_threshold = fp32(0.3), score_threshold = fp32(0)", 3, (int[]){1, 3, 4});
    check_kept(squares, scores, "iou_threshold = fp32(0.4), score_threshold = fp32(0)", 4, (int[]){1, 3, 4, 0});
}

static void test_boxes_below_the_score_go_and_of_that_score_stay(void)
{
    const float scores[BOXES][2] = {{0.1f, 0.2f}, {0.5f, 0.1f}, {0.25f, 0.1f}, {0.25f, 0.1f}, {0.0f, 0.125f}};
    check_kept(squares, scores, "iou_threshold = fp32(0.5), score_threshold = fp32(0.25)", 2, (int[]){1, 3});
}

static void test_boxes_of_other_classes_do_not_compete(void)
{
    const float scores[BOXES][2] = {{0.1f, 0.2f}, {0.7f, 0.1f}, {0.1f, 0.6f}, {0.3f, 0.1f}, {0.0f, 0.05f}};
    const char *const numbers = "iou_threshold = fp32(0.3), per_class_suppression = bool(true), "
                                "score_threshold = fp32(0.1)";
    check_kept(squares, scores, numbers, 3, (int[]){1, 2, 3});
}

/* Without area two boxes share nothing, however near. */
static void test_points_do_not_overlap(void)
{
    const float points[BOXES][4] = {{1, 1, 0, 0}, {1, 1, 0, 0}, {1, 1, 0, 0}, {1, 1, 0, 0}, {1, 1, 0, 0}};
    const float scores[BOXES][2] = {{1, 0}, {2, 0}, {3, 0}, {4, 0}, {5, 0}};
    check_kept(points, scores, "iou_threshold = fp32(0), score_threshold = fp32(0)", 4, (int[]){4, 3, 2, 1});
}

static void test_nan_is_the_largest_score_and_no_box(void)
{
    const float boxes[BOXES][4] = {{0, 0, 2, 2}, {50, 0, NAN, 2}, {1, 0, 2, 2}, {9, 9, 2, 2}, {11, 9, 2, 2}};
    const float scores[BOXES][2] = {{0.1f, 0.2f}, {0.9f, 0.1f}, {0.7f, 0.1f}, {NAN, 0.1f}, {0.0f, 0.3f}};
    check_kept(boxes, scores, "iou_threshold = fp32(0.3), score_threshold = fp32(0)", 3, (int[]){3, 2, 4});
}

/* [N, 4, B] and [N, K, B], two images. */
static void test_ios17_has_the_boxes_on_the_last_axis(void)
{
    const char *const text =
        "program(1.3)\n[buildInfo = dict<string, string>({{\"coremlc-version\", \"1\"}})]\n{\n"
        "    func main<ios17>(tensor<fp16, [2, 4, 3]> boxes, tensor<fp16, [2, 1, 3]> scores) {\n"
        "        tensor<fp16, [2, 4, 2]> b, tensor<fp16, [2, 1, 2]> s, tensor<int32, [2, 2]> i = "
        "non_maximum_suppression(boxes = boxes, iou_threshold = fp16(0.5), max_boxes = int32(2), scores = scores);\n"
        "        tensor<fp32, [2, 4, 2]> wide = cast(dtype = string(\"fp32\"), x = b);\n"
        "    } -> (wide, i);\n}\n";
    const uint16_t one = 0x3c00, two = 0x4000, nine = 0x4880;
    const uint16_t boxes[2][4][3] = {{{one, one, nine}, {one, one, nine}, {two, two, two}, {two, two, two}},
                                     {{one, two, nine}, {one, one, nine}, {one, one, one}, {one, one, one}}};
    const uint16_t scores[2][1][3] = {{{one, two, one}}, {{one, two, nine}}};
    float wide[2][4][2];
    int32_t indices[2][2];
    const kernel_port in[] = {{"boxes", (void *)(uintptr_t)boxes, sizeof boxes},
                              {"scores", (void *)(uintptr_t)scores, sizeof scores}};
    const kernel_port out[] = {{"wide", wide, sizeof wide}, {"i", indices, sizeof indices}};
    for (int t = 0; t < 2; t++) {
        REQUIRE(kernel_run(text, thread_counts[t], in, 2, out, 2));
        CHECK_INT(indices[0][0], 1);
        CHECK_INT(indices[0][1], 2);
        CHECK_INT(indices[1][0], 2);
        CHECK_INT(indices[1][1], 1);
        CHECK(wide[0][0][0] == 1.0f && wide[0][0][1] == 9.0f && wide[0][2][0] == 2.0f);
        CHECK(wide[1][0][0] == 9.0f && wide[1][0][1] == 2.0f && wide[1][1][1] == 1.0f);
    }
}

int main(void)
{
    RUN(test_the_best_stays_and_of_equals_the_first);
    RUN(test_boxes_below_the_score_go_and_of_that_score_stay);
    RUN(test_boxes_of_other_classes_do_not_compete);
    RUN(test_points_do_not_overlap);
    RUN(test_nan_is_the_largest_score_and_no_box);
    RUN(test_ios17_has_the_boxes_on_the_last_axis);
    return check_finish();
}
