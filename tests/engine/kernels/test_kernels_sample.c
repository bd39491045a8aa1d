/* Images sampled at places that come from data: places that are no number, lie far outside or on an edge, pixels
 * without a share, images that do not exist. */
#include "engine/kernel_case.h"
#include "support/check.h"

#include <math.h>
#include <stdio.h>

static const uint64_t thread_counts[] = {1, 3};

/* The image 1 2 / 3 4 at one place in pixels. */
static float at(float row, float column, const char *sampling, const char *border)
{
    char text[1200], body[700];
    float image[4] = {1, 2, 3, 4}, places[2] = {column, row}, y = -1;
    snprintf(body, sizeof body,
             "tensor<fp32, [1, 1, 1, 1]> y = resample(align_corners = bool(false), coordinates = c, coordinates_mode = "
             "string(\"unnormalized\"), padding_mode = string(\"%s\"), padding_value = fp32(7), sampling_mode = "
             "string(\"%s\"), x = x);",
             border, sampling);
    kernel_text(text, sizeof text, "tensor<fp32, [1, 1, 1, 2]> c, tensor<fp32, [1, 1, 2, 2]> x", body, "y");
    const kernel_port in[] = {{"c", places, sizeof places}, {"x", image, sizeof image}};
    CHECK(kernel_run(text, 1, in, 2, &(kernel_port){"y", &y, sizeof y}, 1));
    return y;
}

static void test_a_place_that_is_no_number_gives_nan(void)
{
    static const char *const borders[] = {"constant", "border", "reflection", "symmetric"};
    for (int i = 0; i < 4; i++) {
        CHECK(isnan(at(NAN, 0, "bilinear", borders[i])));
        CHECK(isnan(at(0, NAN, "nearest", borders[i])));
    }
    CHECK(isnan(at(INFINITY, 0, "bilinear", "reflection")));
    CHECK(isnan(at(0, -INFINITY, "nearest", "symmetric")));
}

static void test_places_far_outside_are_the_border(void)
{
    for (int i = 0; i < 2; i++) {
        const float far = i == 0 ? 3e38f : INFINITY;
        CHECK(at(far, 0, "bilinear", "constant") == 7.0f);
        CHECK(at(0, -far, "nearest", "constant") == 7.0f);
        CHECK(at(far, -far, "bilinear", "border") == 3.0f);
        CHECK(at(-far, far, "nearest", "border") == 2.0f);
    }
    CHECK(at(1e9f, 0, "bilinear", "symmetric") == at(0, 0, "bilinear", "symmetric")); /* 4 divides it */
}

static void test_the_nearest_of_two_is_the_even_one(void)
{
    CHECK(at(0, 0.5f, "nearest", "border") == 1.0f);
    CHECK(at(0, 0.5625f, "nearest", "border") == 2.0f);
    CHECK(at(0, 1.5f, "nearest", "constant") == 7.0f);
    CHECK(at(0, -0.5f, "nearest", "constant") == 1.0f);
}

static void test_half_a_pixel_outside_is_half_the_constant(void)
{
    CHECK(at(0, -0.5f, "bilinear", "constant") == 4.0f);
    CHECK(at(1.5f, 1.5f, "bilinear", "constant") == 0.25f * 4.0f + 0.75f * 7.0f);
    CHECK(at(0, -1.0f, "bilinear", "constant") == 7.0f);
}

/* One row of four pixels, at their centers. */
static void test_a_pixel_without_a_share_may_be_infinite(void)
{
    char text[1200];
    float image[4] = {INFINITY, 2, NAN, 4}, places[4] = {1, 0, 3, 0}, y[2] = {0};
    kernel_text(text, sizeof text, "tensor<fp32, [1, 1, 2, 2]> c, tensor<fp32, [1, 1, 1, 4]> x",
                "tensor<fp32, [1, 1, 1, 2]> y = resample(align_corners = bool(false), coordinates = c, "
                "coordinates_mode = string(\"unnormalized\"), padding_mode = string(\"constant\"), padding_value = "
                "fp32(0), sampling_mode = string(\"bilinear\"), x = x);",
                "y");
    const kernel_port in[] = {{"c", places, sizeof places}, {"x", image, sizeof image}};
    REQUIRE(kernel_run(text, 3, in, 2, &(kernel_port){"y", y, sizeof y}, 1));
    CHECK(y[0] == 2.0f && y[1] == 4.0f);
}

#define CROP                                                                                                           \
    "program(1.3)\n[buildInfo = dict<string, string>({{\"coremlc-version\", \"1\"}})]\n{\n"                            \
    "    func main<ios17>(tensor<fp32, [4, 4]> b, tensor<int32, [4]> i, tensor<fp32, [2, 1, 1, 3]> x) {\n"             \
    "        tensor<fp32, [4, 1, 1, 2]> y = crop_resize(box_indices = i, boxes = b, normalized_coordinates = "         \
    "bool(true), pad_value = fp32(9), sampling_mode = string(\"ALIGN_CORNERS\"), target_height = int32(1), "           \
    "target_width = int32(2), x = x);\n    } -> (y);\n}\n"

/* Boxes that end on the edge, a rounding beyond it, and beyond it; images -1 and 2 are none. */
static void test_crops_at_the_edge_and_of_no_image(void)
{
    float boxes[4][4] = {{0, 0, 0, 1}, {0, 0, 0, 1.0000001f}, {0, -0.25f, 0, 1.25f}, {0, 0, 0, 1}};
    float images[2][3] = {{1, 2, 3}, {4, 5, 6}}, y[4][2];
    int32_t first[4] = {0, 1, 1, -1}, second[4] = {2, 0, 1, 1};
    const float wanted[2][4][2] = {{{1, 3}, {4, 6}, {9, 9}, {9, 9}}, {{9, 9}, {1, 3}, {9, 9}, {4, 6}}};
    for (int t = 0; t < 2; t++) {
        const kernel_port in[] = {
            {"b", boxes, sizeof boxes}, {"i", t == 0 ? first : second, sizeof first}, {"x", images, sizeof images}};
        REQUIRE(kernel_run(CROP, thread_counts[t], in, 3, &(kernel_port){"y", y, sizeof y}, 1));
        for (int k = 0; k < 4; k++)
            CHECK(y[k][0] == wanted[t][k][0] && y[k][1] == wanted[t][k][1]);
    }
}

/* The index in front of five numbers; one that is no number, or too large for any integer, is no image. */
static void test_an_index_among_the_numbers_of_a_box(void)
{
    const char *const text =
        "program(1.3)\n[buildInfo = dict<string, string>({{\"coremlc-version\", \"1\"}})]\n{\n"
        "    func main<ios16>(tensor<fp32, [4, 1, 5, 1, 1]> r, tensor<fp32, [2, 1, 1, 2]> x) {\n"
        "        tensor<fp32, [4, 1, 1, 1, 1]> y = crop_resize(pad_value = fp32(9), roi = r, x = x);\n    } -> (y);\n"
        "}\n";
    float boxes[4][5] = {{1, 0, 1, 0, 1}, {0, 0, 0, 0, 0}, {NAN, 0, 0, 0, 0}, {1e30f, 0, 0, 0, 0}};
    float images[2][2] = {{1, 2}, {3, 4}}, y[4];
    const kernel_port in[] = {{"r", boxes, sizeof boxes}, {"x", images, sizeof images}};
    REQUIRE(kernel_run(text, 1, in, 2, &(kernel_port){"y", y, sizeof y}, 1));
    CHECK(y[0] == 4.0f && y[1] == 1.0f && y[2] == 9.0f && y[3] == 9.0f);
}

int main(void)
{
    RUN(test_a_place_that_is_no_number_gives_nan);
    RUN(test_places_far_outside_are_the_border);
    RUN(test_the_nearest_of_two_is_the_even_one);
    RUN(test_half_a_pixel_outside_is_half_the_constant);
    RUN(test_a_pixel_without_a_share_may_be_infinite);
    RUN(test_crops_at_the_edge_and_of_no_image);
    RUN(test_an_index_among_the_numbers_of_a_box);
    return check_finish();
}
