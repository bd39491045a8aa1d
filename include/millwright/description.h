/* What a model says of itself to whoever feeds it: its inputs and outputs beyond their types, and who made it.
 *
 *     const mw_description *d = mw_coreml_get_info(model).description;
 *     for (size_t i = 0; i < d->functions[0].input_count; i++)
 *         puts(d->functions[0].inputs[i].name);
 *
 * A program knows tensors. Its description knows that one of them is an image in BGR, that another may be left out, and
 * which shapes are meant. It is the same for every format of files; what a format cannot say is empty or zero.
 *
 * Strings are never NULL: what is not said is "".
 *
 * Threads: a description that a call of this library lends is constant, and may be read by several threads at once. */
#ifndef MILLWRIGHT_DESCRIPTION_H
#define MILLWRIGHT_DESCRIPTION_H

#include <millwright/function.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What an app gives or gets. */
typedef enum mw_feature_kind {
    MW_FEATURE_TENSOR = 1, /* elements of `dtype` */
    MW_FEATURE_IMAGE,      /* pixels: see mw_image_layout */
    MW_FEATURE_INTEGER,    /* one 64-bit integer */
    MW_FEATURE_NUMBER,     /* one double */
    MW_FEATURE_STRING,     /* one string */
    MW_FEATURE_DICTIONARY, /* a double for each key: the probability of each label of a classifier */
    MW_FEATURE_SEQUENCE    /* integers or strings */
} mw_feature_kind;

/** How the pixels of an image become the elements of the tensor [1, C, H, W] of its name: each channel of a pixel, 0 to
 *  255 (gray in fp16: as it is), is one element, in this order. A scale and a bias, if the model has any, are
 *  operations of its program (mul, add) on that tensor: the description says nothing of them. */
typedef enum mw_image_layout {
    MW_IMAGE_NONE = 0,
    MW_IMAGE_GRAY,    /* C = 1 */
    MW_IMAGE_RGB,     /* C = 3: red first */
    MW_IMAGE_BGR,     /* C = 3: blue first */
    MW_IMAGE_GRAY_F16 /* C = 1, any fp16 values */
} mw_image_layout;

/** An input, output or state. */
typedef struct mw_feature {
    const char *name; /* of the port */
    const char *text; /* for people */
    mw_feature_kind kind;
    bool optional;          /* an input that need not be fed */
    mw_dtype dtype;         /* TENSOR: of its elements; DICTIONARY: of its keys, SEQUENCE: of its members: MW_I64 or
                             * MW_STRING; else MW_DTYPE_NONE */
    mw_image_layout layout; /* IMAGE */
    bool has_shape;         /* false: only the program says it */
    mw_admission admits;    /* TENSOR, IMAGE: which shapes; SEQUENCE: which lengths */
    mw_shape shape;         /* the one, or the standard one; of an image [H, W] */
    mw_shape low, high;     /* MW_ADMITS_RANGES: both inclusive; high MW_DIM_UNKNOWN = no bound */
    size_t shape_count;     /* MW_ADMITS_LISTED */
    const mw_shape *shapes;
    bool has_value; /* an optional tensor that is not fed is filled with: */
    double value;
} mw_feature;

/** A function of a program, as an app calls it. */
typedef struct mw_function_description {
    const char *name;
    size_t input_count, output_count, state_count;
    const mw_feature *inputs, *outputs, *states;
    const char *label;         /* of a classifier: its output with the predicted label, "" = none */
    const char *probabilities; /* its output with the probability of each label, "" = none */
} mw_function_description;

typedef struct mw_text_pair {
    const char *key, *value;
} mw_text_pair;

/** A model. */
typedef struct mw_description {
    size_t struct_size; /* set by mw_description_defaults, and in those that are lent */
    const char *text;   /* what the model does */
    const char *version, *author, *license;
    size_t pair_count; /* what else it says of itself, e.g. what it was converted from. Of two with one key the first
                        * counts; MIL and ONNX have the fields above as "mw.text", "mw.version", "mw.author" and
                        * "mw.license", and a pair of that key is not written if the field says something */
    const mw_text_pair *pairs;
    size_t function_count;
    const mw_function_description *functions;
    size_t standard; /* which function runs where none is named */
} mw_description;

/** An empty description, for the caller to fill. */
MW_API mw_description mw_description_defaults(void);

/** The feature of that name among the inputs, outputs and states of a function; NULL if there is none. */
MW_API const mw_feature *mw_description_find(const mw_function_description *function, const char *name);

/** The description as text for people: one line a feature.
 *  return  freed with mw_string_free; NULL with err set on failure */
MW_API char *mw_description_print(const mw_description *description, mw_error *err);

#ifdef __cplusplus
}
#endif
#endif
