/* The numbers of Core ML's schema, as rows. Source: the published schema. */
#include "format/coreml/schema.h"
#include <string.h>

#define COUNT_OF(rows) (sizeof(rows) / sizeof *(rows))

typedef struct pair {
    int code, value;
} pair;

static const pair dtypes[] = {{1, MW_BOOL},      {2, MW_STRING}, {10, MW_F16}, {11, MW_F32}, {12, MW_F64},
                              {13, MW_BF16},     {21, MW_I8},    {22, MW_I16}, {23, MW_I32}, {24, MW_I64},
                              {25, MW_I4},       {31, MW_U8},    {32, MW_U16}, {33, MW_U32}, {34, MW_U64},
                              {35, MW_U4},       {36, MW_U2},    {37, MW_U1},  {38, MW_U6},  {39, MW_U3},
                              {40, MW_F8E4M3FN}, {41, MW_F8E5M2}};
static const pair array_dtypes[] = {{0x10000 | 16, MW_F16},
                                    {0x10000 | 32, MW_F32},
                                    {0x10000 | 64, MW_F64},
                                    {0x20000 | 8, MW_I8},
                                    {0x20000 | 32, MW_I32}};
static const pair layouts[] = {{10, MW_IMAGE_GRAY}, {20, MW_IMAGE_RGB}, {30, MW_IMAGE_BGR}, {40, MW_IMAGE_GRAY_F16}};

static int value_of(const pair *rows, size_t count, int code)
{
    for (size_t i = 0; i < count; i++)
        if (rows[i].code == code)
            return rows[i].value;
    return 0;
}

static int code_of(const pair *rows, size_t count, int value)
{
    for (size_t i = 0; i < count; i++)
        if (rows[i].value == value)
            return rows[i].code;
    return 0;
}

mw_dtype mw__coreml_dtype(int code) { return (mw_dtype)value_of(dtypes, COUNT_OF(dtypes), code); }
int mw__coreml_dtype_code(mw_dtype dtype) { return code_of(dtypes, COUNT_OF(dtypes), (int)dtype); }
mw_dtype mw__coreml_array_dtype(int code) { return (mw_dtype)value_of(array_dtypes, COUNT_OF(array_dtypes), code); }
int mw__coreml_array_code(mw_dtype dtype) { return code_of(array_dtypes, COUNT_OF(array_dtypes), (int)dtype); }
mw_image_layout mw__coreml_layout(int code) { return (mw_image_layout)value_of(layouts, COUNT_OF(layouts), code); }
int mw__coreml_layout_code(mw_image_layout layout) { return code_of(layouts, COUNT_OF(layouts), (int)layout); }

/* ---- operator sets ---- */

static const struct {
    mw_opset opset;
    const char *name;
    int specification;
} opsets[] = {{MW_IOS15, "CoreML5", 6},
              {MW_IOS16, "CoreML6", 7},
              {MW_IOS17, "CoreML7", 8},
              {MW_IOS18, "CoreML8", 9},
              {MW_IOS26, "CoreML9", 10}};

const char *mw__coreml_opset_name(mw_opset opset)
{
    for (size_t i = 0; i < COUNT_OF(opsets); i++)
        if (opsets[i].opset == opset)
            return opsets[i].name;
    return NULL;
}

mw_opset mw__coreml_opset(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(opsets); i++)
        if (strcmp(opsets[i].name, name) == 0)
            return opsets[i].opset;
    return (mw_opset)0;
}

int mw__coreml_specification_of(mw_opset opset)
{
    for (size_t i = 0; i < COUNT_OF(opsets); i++)
        if (opsets[i].opset == opset)
            return opsets[i].specification;
    return 0;
}

/* ---- kinds of models ---- */

static const struct {
    unsigned number;
    const char *name;
} kinds[] = {{200, "pipelineClassifier"},
             {201, "pipelineRegressor"},
             {202, "pipeline"},
             {300, "glmRegressor"},
             {301, "supportVectorRegressor"},
             {302, "treeEnsembleRegressor"},
             {303, "neuralNetworkRegressor"},
             {304, "bayesianProbitRegressor"},
             {400, "glmClassifier"},
             {401, "supportVectorClassifier"},
             {402, "treeEnsembleClassifier"},
             {403, "neuralNetworkClassifier"},
             {404, "kNearestNeighborsClassifier"},
             {500, "neuralNetwork"},
             {501, "itemSimilarityRecommender"},
             {MW__COREML_PROGRAM, "mlProgram"},
             {555, "customModel"},
             {556, "linkedModel"},
             {560, "classConfidenceThresholding"},
             {600, "oneHotEncoder"},
             {601, "imputer"},
             {602, "featureVectorizer"},
             {603, "dictVectorizer"},
             {604, "scaler"},
             {606, "categoricalMapping"},
             {607, "normalizer"},
             {609, "arrayFeatureExtractor"},
             {610, "nonMaximumSuppression"},
             {900, "identity"},
             {2000, "textClassifier"},
             {2001, "wordTagger"},
             {2002, "visionFeaturePrint"},
             {2003, "soundAnalysisPreprocessing"},
             {2004, "gazetteer"},
             {2005, "wordEmbedding"},
             {2006, "audioFeaturePrint"},
             {3000, "serializedModel"}};

const char *mw__coreml_kind_name(unsigned number)
{
    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        if (kinds[i].number == number)
            return kinds[i].name;
    return "unknown";
}
