/* Memory that steps read and write, before it has an address. */
#ifndef MW__ENGINE_CORE_BUFFER_H
#define MW__ENGINE_CORE_BUFFER_H

#include "engine/core/step.h"

#define MW__NO_BUFFER UINT32_MAX

typedef enum mw__buffer_kind {
    MW__BUFFER_LOCAL,    /* placed by memory.c when the operation is encoded */
    MW__BUFFER_CONSTANT, /* `data` */
    MW__BUFFER_INPUT,    /* what is bound to input `port` */
    MW__BUFFER_OUTPUT    /* what is bound to output `port` */
} mw__buffer_kind;

typedef struct mw__buffer {
    mw__buffer_kind kind;
    size_t size;
    const void *data;
    size_t port;
    const mw_tensor *value; /* whose memory it is first; NULL = a temporary */
    const mw__step *maker;  /* what wrote it last as operations were planned; NULL = nothing */
} mw__buffer;

#endif
