/* Files without names: weights stand in an order that the format fixes. */
#ifndef MW__TEXT_PRETRAINED_RAW_H
#define MW__TEXT_PRETRAINED_RAW_H

#include "text/pretrained/pretrained.h"

/* One of an order: a part of all layers, or of the network; MW__PARTS ends the order. */
typedef struct mw__raw_item {
    mw__pretrained_part part;
    bool bias;
} mw__raw_item;

typedef enum mw__raw_code { MW__RAW_F32, MW__RAW_BF16, MW__RAW_Q8 } mw__raw_code;

/* Where a weight lies in its file. */
typedef struct mw__raw_place {
    uint64_t offset;
    mw__raw_code code; /* Q8: int8 of all elements, then a float for each group */
    int64_t group;
} mw__raw_place;

/* Bytes of so many elements. False if it overflows. */
bool mw__raw_size(mw__raw_code code, int64_t group, int64_t count, uint64_t *out);

/* Walks over an order, from *at on, which is moved behind it; places of weights are filled in. Of a part all layers
 * follow each other; one that the network lacks, as a head that is tied, has no bytes. */
mw_status mw__raw_place_all(mw__pretrained *p, const mw__raw_item *order, mw__raw_code code, int64_t group,
                            mw__raw_place *places, uint64_t *at, mw_error *err);

/* The elements as they stand in the file, the rows of `columns` that follow a weight's last skipped. */
mw_status mw__raw_read(mw__pretrained *p, size_t weight, float *out, mw_error *err);

/* Header numbers, little-endian. */
int32_t mw__raw_int(const unsigned char *header, int index);
/* Sizes that make a configuration: all from 1 to 2^30, heads divide. `file` stands in the message. */
mw_status mw__raw_check(const mw_text_config *config, const char *path, mw_error *err);

#endif
