/* A model held to the published schema of its operators (schemas.def), with none of what our reader and writer know:
 * what both understand alike, and others do not, is found here. */
#ifndef MW__FORMAT_ONNX_CHECK_CHECK_H
#define MW__FORMAT_ONNX_CHECK_CHECK_H

#include "base/memory/alloc.h"

#include <millwright/status.h>
#include <onnx/onnx.pb-c.h>

/* Checked are operators, inputs, attributes, element types and ranks of every node, also in bodies; that each value is
 * made once and before it is taken; and that ports are what they are declared as.
 *  name    of the file, for messages
 *  errors  MW_ERROR_UNSUPPORTED for another operator set than 17; MW_ERROR_FORMAT naming the node and the rule */
mw_status mw__onnx_check(const mw_allocator *allocator, const Mw__Onnx__Model *model, const char *name, mw_error *err);

/* ---- shared by the files of the check ---- */

typedef struct mw__onnx_schema {
    const char *name, *inputs, *results, *types, *attributes, *ranks;
} mw__onnx_schema;

/* NULL if the operator set has no such operator. */
const mw__onnx_schema *mw__onnx_schema_find(const char *operation);

enum { MW__ONNX_WORD = 48 };
/* The next word of a list; false at its end. */
bool mw__onnx_schema_word(const char **list, char out[MW__ONNX_WORD]);
/* True if a name of `types`, or a digit, may stand for the element type. */
bool mw__onnx_schema_allows(const char *types, const char *name, int type);
/* The only type that a name may stand for; 0 for several. */
int mw__onnx_schema_only_type(const char *types, const char *name);

/* What is known of a value. */
typedef struct mw__onnx_fact {
    int type;                         /* TensorProto.DataType; 0 = not known, or no tensor */
    int rank;                         /* -1 = not known */
    int64_t count;                    /* of the elements of a value of rank 1; -1 = not known */
    const Mw__Onnx__Tensor *constant; /* of an initializer */
} mw__onnx_fact;

/* The facts of a node: what it takes (NULL where an input is left out), and what it makes. */
typedef struct mw__onnx_facts {
    const Mw__Onnx__Node *node;
    const mw__onnx_schema *schema;
    const mw__onnx_fact **in;
    mw__onnx_fact *out;
    char why[200]; /* what is wrong */
} mw__onnx_facts;

const Mw__Onnx__Attribute *mw__onnx_schema_attribute(const Mw__Onnx__Node *node, const char *name);

/* check_rank.c: checks the ranks of the inputs and fills in those of the results; false with `why`. */
bool mw__onnx_check_ranks(mw__onnx_facts *facts);

#endif
