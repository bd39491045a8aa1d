/* Tensors of an ONNX file, and constants that are computed while it is read. */
#ifndef MW__FORMAT_ONNX_READ_LITERAL_H
#define MW__FORMAT_ONNX_READ_LITERAL_H

#include "base/file/file.h"

#include <millwright/types.h>
#include <onnx/onnx.pb-c.h>

/* Element types, by their numbers in files. */
enum {
    MW__ONNX_FLOAT = 1,
    MW__ONNX_UINT8 = 2,
    MW__ONNX_INT8 = 3,
    MW__ONNX_UINT16 = 4,
    MW__ONNX_INT16 = 5,
    MW__ONNX_INT32 = 6,
    MW__ONNX_INT64 = 7,
    MW__ONNX_STRING = 8,
    MW__ONNX_BOOL = 9,
    MW__ONNX_FLOAT16 = 10,
    MW__ONNX_DOUBLE = 11,
    MW__ONNX_UINT32 = 12,
    MW__ONNX_UINT64 = 13,
    MW__ONNX_COMPLEX64 = 14,
    MW__ONNX_COMPLEX128 = 15,
    MW__ONNX_BFLOAT16 = 16,
    MW__ONNX_UINT4 = 21,
    MW__ONNX_INT4 = 22
};

/* "int64", or "type 23". `buffer` of 16 bytes is used for the latter. */
const char *mw__onnx_type_name(int type, char buffer[16]);
/* The element type that stands for it in a graph; MW_DTYPE_NONE for one that is refused. */
mw_dtype mw__onnx_dtype(int type);
/* Bytes of one element of a literal; 0 for a type that is refused. In a file, two of 4 bits share a byte. */
size_t mw__onnx_type_size(int type);
bool mw__onnx_is_float(int type);
bool mw__onnx_is_integer(int type);
/* Whether the bytes of a file are those of the graph. */
bool mw__onnx_is_plain(int type);
/* The least and largest number of an integer type. */
void mw__onnx_type_range(int type, int64_t *out_low, int64_t *out_high);

/* Elements that are known, packed, row-major, little-endian as in raw_data; not aligned. Those of 4 bits have a byte
 * each. */
typedef struct mw__onnx_literal {
    int type;
    mw_shape shape;
    size_t count;
    const void *data;
    struct mw__shared_payload *shared; /* where data lies, if graphs may share it; NULL = in memory of the reader */
    uint64_t entry;                    /* in the shared payload */
} mw__onnx_literal;

/* An element of an integer or bool type (uint64 beyond int64: INT64_MAX), of any type. */
int64_t mw__onnx_literal_int(const mw__onnx_literal *literal, size_t index);
double mw__onnx_literal_float(const mw__onnx_literal *literal, size_t index);

/* Where elements are: in the message, in another file, or, of a message whose large bytes were left out, in the file of
 * the model. The last is ours alone. */
enum { MW__ONNX_IN_FILE = 1, MW__ONNX_LEFT_OUT = 2 };
#define MW__ONNX_LEFT_OUT_KEY "left out"

/* The bytes of the model's message, freed with mw__free. *out_outline: large ones were left out. */
mw_status mw__onnx_message_bytes(const mw_allocator *allocator, const mw__file *file, const char *path, char **out,
                                 size_t *out_size, bool *out_outline, mw_error *err);

/* Where the elements of tensors come from, and where they go. */
typedef struct mw__onnx_source {
    const char *path;      /* of the model, for messages */
    const char *folder_of; /* a path in whose folder external data lie; NULL = they are refused */
    mw__arena *arena;      /* gets elements that are not in the message as they stand */
    const mw__file *self;  /* the file of the model, where elements lie that were left out; or NULL */
} mw__onnx_source;

/* The tensor of a file. Its elements may be those of the message, which must outlive it.
 *  errors  MW_ERROR_FORMAT if the elements do not fit the dims or are not there; MW_ERROR_UNSUPPORTED for a type that
 *          is refused, or more than MW_RANK_MAX axes; MW_ERROR_FILE for external data */
mw_status mw__onnx_literal_read(const mw__onnx_source *source, const Mw__Onnx__Tensor *tensor, mw__onnx_literal *out,
                                mw_error *err);

/* The same without the elements, of a tensor whose elements lie in another file: that file, and where in it they are.
 * The caller closes the file. */
mw_status mw__onnx_literal_open(const mw__onnx_source *source, const Mw__Onnx__Tensor *tensor, mw__onnx_literal *out,
                                mw__file *out_file, uint64_t *out_offset, mw_error *err);

#endif
