/* The messages of Core ML's files under short names, and what their numbers mean. */
#ifndef MW__FORMAT_COREML_SCHEMA_H
#define MW__FORMAT_COREML_SCHEMA_H

#include "coreml/mil.pb-c.h"
#include "coreml/model.pb-c.h"

#include <millwright/description.h>

typedef Mw__Coreml__Model pb_model;
typedef Mw__Coreml__Description pb_description;
typedef Mw__Coreml__FunctionDescription pb_function_description;
typedef Mw__Coreml__Feature pb_feature;
typedef Mw__Coreml__FeatureType pb_feature_type;
typedef Mw__Coreml__ArrayType pb_array;
typedef Mw__Coreml__ImageType pb_image;
typedef Mw__Coreml__Metadata pb_metadata;
typedef Mw__Coreml__Pipeline pb_pipeline;
typedef Mw__Coreml__Program pb_program;
typedef Mw__Coreml__NamedFunction pb_named_function;
typedef Mw__Coreml__Function pb_function;
typedef Mw__Coreml__NamedBlock pb_named_block;
typedef Mw__Coreml__Block pb_block;
typedef Mw__Coreml__Operation pb_operation;
typedef Mw__Coreml__NamedArgument pb_named_argument;
typedef Mw__Coreml__Argument pb_argument;
typedef Mw__Coreml__Binding pb_binding;
typedef Mw__Coreml__NamedType pb_named_type;
typedef Mw__Coreml__Attribute pb_attribute;
typedef Mw__Coreml__ValueType pb_type;
typedef Mw__Coreml__TensorType pb_tensor_type;
typedef Mw__Coreml__Dimension pb_dimension;
typedef Mw__Coreml__Value pb_value;
typedef Mw__Coreml__TensorValue pb_tensor;
typedef Mw__Coreml__DictionaryValue pb_dictionary;
typedef Mw__Coreml__SizeRange pb_size_range;

/* Element types of programs; MW_DTYPE_NONE or 0 for what is none. */
mw_dtype mw__coreml_dtype(int code);
int mw__coreml_dtype_code(mw_dtype dtype);

/* Element types of arrays in descriptions. */
mw_dtype mw__coreml_array_dtype(int code);
int mw__coreml_array_code(mw_dtype dtype); /* 0: an array cannot have it */

mw_image_layout mw__coreml_layout(int code);
int mw__coreml_layout_code(mw_image_layout layout);

/* "CoreML7" of ios17; NULL for what is none. */
const char *mw__coreml_opset_name(mw_opset opset);
mw_opset mw__coreml_opset(const char *name); /* 0 = unknown */
/* The least number of the format for a program of that operator set. */
int mw__coreml_specification_of(mw_opset opset);

/* The kind of model that is field `number` of a model: "mlProgram" for 502; "unknown" for what is none. */
const char *mw__coreml_kind_name(unsigned number);

#define MW__COREML_PROGRAM 502u

#endif
