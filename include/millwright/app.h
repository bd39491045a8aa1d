/* A program as an app calls it: an image of bytes goes in, a label and the probability of each class come out. This is
 * what Xcode shows of a package as an image classifier.
 *
 *     mw_app_options options = mw_app_defaults();
 *     options.image = (mw_app_image){.input = "x", .layout = MW_IMAGE_RGB, .height = 224, .width = 224,
 *                                    .scale = {1 / 255.0f, 1 / 255.0f, 1 / 255.0f}};
 *     options.scores = "scores";
 *     options.classes = (mw_classes){.count = 2, .names = names};
 *     mw_graph *app = mw_graph_for_app(graph, &options, &err);
 *     const mw_feature image = mw_app_image_feature(&options);            // for the description of mw_graph_write
 *
 * In libmillwright_data (<millwright/data.h>).
 *
 * Threads: as a graph. */
#ifndef MILLWRIGHT_APP_H
#define MILLWRIGHT_APP_H

#include <millwright/description.h>

#ifdef __cplusplus
extern "C" {
#endif

/** How the bytes of an image become an input: x = pixel * scale + bias, for each channel in the order of the layout.
 *  These are operations of the program, in front of what was there. */
typedef struct mw_app_image {
    const char *input;      /* of the graph: height * width * channels elements of one example; NULL = there is none */
    const char *name;       /* of the image; NULL = that of the input */
    mw_image_layout layout; /* MW_IMAGE_GRAY, MW_IMAGE_RGB or MW_IMAGE_BGR */
    int64_t height, width;  /* 1 to 16384 */
    bool channels_last;     /* the input has its channels last: [1, H, W, C] */
    float scale[3], bias[3];
} mw_app_image;

/** What changes. Fill with mw_app_defaults. Pointers are read during the call only. */
typedef struct mw_app_options {
    size_t struct_size;
    mw_app_image image;
    const char *scores;        /* a result with one number for each class; NULL = there is none */
    mw_classes classes;        /* of the scores */
    bool is_probabilities;     /* the numbers are probabilities already; else softmax makes them so */
    const char *label;         /* what the two results are called: default "classLabel".. */
    const char *probabilities; /* .. and "classLabel_probs" */
} mw_app_options;

/** Returns the default options: nothing changes. */
MW_API mw_app_options mw_app_defaults(void);

/** A copy of "main" for one example (mw_graph_rebatch), with an image for an input, and `classify` behind its scores;
 *  other inputs and results stay. mw_graph_open_onnx and MIL as text know no images: the description tells them from
 *  tensors.
 *  return  owned by the caller, by the allocator of the graph; NULL with err set on failure
 *  errors  MW_ERROR_ARGUMENT for an input or result that is not there, and options out of range; MW_ERROR_SHAPE if the
 *          sizes do not fit; those of mw_graph_rebatch and mw_classify */
MW_API mw_graph *mw_graph_for_app(const mw_graph *graph, const mw_app_options *options, mw_error *err);

/** The image as a feature of a description (mw_function_description); its strings are those of the options. Zeros
 *  without an image. */
MW_API mw_feature mw_app_image_feature(const mw_app_options *options);

#ifdef __cplusplus
}
#endif
#endif
