/* The compiled plan: what compile makes, and all that run and surface see of it. */
#ifndef MW__ENGINE_COMPILE_COMPILED_H
#define MW__ENGINE_COMPILE_COMPILED_H

#include "engine/core/buffer.h"
#include "engine/core/config.h"

#define MW__THREADS_MAX 64

/* A function as steps over buffers; immutable, shared by all its operations. Steps stand in the order of the text. */
typedef struct mw__plan {
    mw__buffer *buffers;
    size_t buffer_count;
    const mw__step **steps;
    size_t step_count;
    int partitions;
    double wake; /* ns on one partition: below it, waking the team costs more than it gives */
} mw__plan;

typedef struct mw__port_info {
    const char *name;
    size_t size;      /* bytes that the tensor takes */
    size_t alignment; /* of an element */
    uint32_t buffer;
} mw__port_info;

/* A state of a program: the input that holds it, and the output that is its next value. Unless another buffer is bound
 * there, that goes into the memory of the input. */
typedef struct mw__state_port {
    size_t input, output;
} mw__state_port;

/* Constants that a client exchanges, with the values of the files that the text names. */
typedef struct mw__open_weights {
    const mw__payload **payload;
    size_t count;
} mw__open_weights;

/* A compiled function. */
typedef struct mw__program {
    const char *name;
    const char *summary;
    mw__port_info *inputs, *outputs;
    size_t input_count, output_count;
    mw__open_weights weights;                                /* the last of the inputs, which are no ports */
    const mw__port_info **inputs_by_name, **outputs_by_name; /* ports, sorted; of a block, NULL */
    mw__state_port *states;
    size_t state_count;
    mw__plan plan;
    bool flush;             /* arithmetic takes and gives 0 for subnormals */
    mw__loaded_unit loaded; /* of a program for the ANE, as the next */
    bool unsound_streams;
    size_t *live; /* operations of it that are loaded; guarded by those who count */
} mw__program;

/* The blocks of a branch or loop, as programs that a step runs: of a branch its first read is the predicate, and the
 * inputs of both programs are the reads behind it; of a loop (condition, body) they are all its reads, and the last
 * write is what the condition gives. */
typedef struct mw__nested {
    bool loop;
    mw__program programs[2];
    const uint32_t *writes[2]; /* by output of a program: the write of the step */
} mw__nested;

/* How many of the inputs are ports. */
static inline size_t mw__input_ports(const mw__program *program)
{
    return program->input_count - program->weights.count;
}

/* The port of that name among `count` that are sorted; NULL if there is none. */
const mw__port_info *mw__plan_find_port(const mw__port_info *const *by_name, size_t count, const char *name);

#endif
