/* Programs for apps: an image of bytes and labels give what the graph gave for the numbers that the bytes stand for. */
#include "support/check.h"

#include <math.h>
#include <millwright/data.h>
#include <millwright/millwright.h>
#include <stdlib.h>
#include <string.h>

enum { H = 3, W = 4, PIXELS = 3 * H * W, CLASSES = 3 };

static const char *const labels[CLASSES] = {"ant", "bee", "cow"};
static const float scale[3] = {0.01f, 0.02f, 0.03f}, bias[3] = {-0.5f, 0.25f, 1.0f};

/* y = W x of [2, 3, H, W], [2, H, W, 3] or [2, 36]. */
static mw_graph *make_graph(mw_shape shape, mw_error *err)
{
    static float weight[PIXELS * CLASSES];
    for (int i = 0; i < PIXELS * CLASSES; i++)
        weight[i] = (float)(i * 37 % 23 - 11) / 40.0f;
    mw_graph *graph = mw_graph_create(NULL, err);
    mw_tensor *x = mw_reshape(mw_input(graph, "x", MW_F32, shape), MW_SHAPE(2, PIXELS));
    mw_tensor *w = mw_constant(graph, MW_F32, MW_SHAPE(PIXELS, CLASSES), weight);
    mw_output(mw_matmul(x, w, 0), "scores");
    return graph;
}

static void predict(const mw_graph *graph, const char *input, const float *x, const char *result, float *out)
{
    mw_error err = {0};
    mw_model *model = mw_model_create(graph, NULL, &err);
    const mw_feed feed = {.name = input, .dtype = MW_F32, .data = x, .count = PIXELS, .scale = 1};
    const mw_batch batch = {.feeds = &feed, .feed_count = 1, .examples = 1};
    const mw_result wanted = {result, MW_F32, out, CLASSES};
    mw_model_predict(model, &batch, &wanted, 1, &err);
    CHECK_OK(err);
    mw_model_destroy(model);
}

static mw_app_options make_options(bool channels_last)
{
    mw_app_options options = mw_app_defaults();
    options.image = (mw_app_image){
        .input = "x", .name = "image", .layout = MW_IMAGE_RGB, .height = H, .width = W, .channels_last = channels_last};
    memcpy(options.image.scale, scale, sizeof scale);
    memcpy(options.image.bias, bias, sizeof bias);
    options.scores = "scores";
    options.classes = (mw_classes){.count = CLASSES, .names = labels};
    return options;
}

/* The same numbers, scaled by the caller. */
static void check_layout(mw_shape shape, bool channels_last)
{
    mw_error err = {0};
    float bytes[PIXELS], x[PIXELS], scores[CLASSES], p[CLASSES], sum = 0;
    for (int c = 0; c < 3; c++)
        for (int i = 0; i < H * W; i++) {
            const int from = c * H * W + i;
            bytes[from] = (float)((from * 53) % 256);
            x[channels_last ? i * 3 + c : from] = bytes[from] * scale[c] + bias[c];
        }
    const mw_app_options options = make_options(channels_last);
    mw_graph *graph = make_graph(shape, &err), *app = mw_graph_for_app(graph, &options, &err);
    CHECK_OK(err);
    REQUIRE(app != NULL);
    predict(graph, "x", x, "scores", scores);
    predict(app, "image", bytes, "classLabel_probs", p);
    for (int i = 0; i < CLASSES; i++)
        sum += expf(scores[i]);
    for (int i = 0; i < CLASSES; i++)
        CHECK_NEAR((double)p[i], exp((double)scores[i]) / (double)sum, 1e-5);
    mw_graph_destroy(app);
    mw_graph_destroy(graph);
}

static void test_bytes_give_what_their_numbers_gave(void)
{
    check_layout(MW_SHAPE(2, 3, H, W), false);
    check_layout(MW_SHAPE(2, H, W, 3), true);
    check_layout(MW_SHAPE(2, PIXELS), false);
}

static void test_the_feature_is_the_image(void)
{
    const mw_app_options options = make_options(false), none = mw_app_defaults();
    const mw_feature feature = mw_app_image_feature(&options);
    CHECK_STR(feature.name, "image");
    CHECK(feature.kind == MW_FEATURE_IMAGE && feature.layout == MW_IMAGE_RGB && feature.has_shape);
    CHECK(mw_shape_equal(feature.shape, MW_SHAPE(H, W)));
    CHECK_STR(mw_app_image_feature(&none).name, "");
    CHECK_STR(mw_app_image_feature(NULL).name, "");
}

static void check_app_refused(const mw_app_options *options, const char *part)
{
    mw_error err = {0}, fine = {0};
    mw_graph *graph = make_graph(MW_SHAPE(2, 3, H, W), &fine);
    CHECK(mw_graph_for_app(graph, options, &err) == NULL);
    CHECK_CONTAINS(err.message, part);
    mw_graph_destroy(graph);
}

#define REFUSED_APP(change, part)                                                                                      \
    do {                                                                                                               \
        mw_app_options options = make_options(false);                                                                  \
        change;                                                                                                        \
        check_app_refused(&options, part);                                                                             \
    } while (0)

static void test_what_does_not_fit_is_refused(void)
{
    check_app_refused(NULL, "mw_app_defaults");
    REFUSED_APP(options.struct_size = 1, "mw_app_defaults");
    REFUSED_APP(options.image.input = "gone", "no input \"gone\"");
    REFUSED_APP(options.scores = "gone", "no result \"gone\"");
    REFUSED_APP(options.image.width = 5, "is not the 36 elements of \"x\"");
    REFUSED_APP(options.image.height = 0, "0 x 4; each is 1 to 16384");
    REFUSED_APP(options.image.layout = MW_IMAGE_GRAY_F16, "layout 4 is none");
    REFUSED_APP(options.image.scale[1] = 0, "scale 0 and bias 0.25 of channel 1");
    REFUSED_APP(options.image.bias[2] = NAN, "of channel 2");
    REFUSED_APP(options.classes.count = 2, "2 classes for the 3 numbers of \"scores\"");
    REFUSED_APP(options.classes.count = 0, "are scores of no classes");
    REFUSED_APP(options.scores = NULL, "classes have no effect without scores");
    REFUSED_APP(options.label = NULL, "have no names");
    REFUSED_APP(options.image.name = "classLabel", "classLabel");
}

int main(void)
{
    RUN(test_bytes_give_what_their_numbers_gave);
    RUN(test_the_feature_is_the_image);
    RUN(test_what_does_not_fit_is_refused);
    return check_finish();
}
