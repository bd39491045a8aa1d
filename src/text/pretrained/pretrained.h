/* The weights of a network in the files that people have: which tensors there are, under which names and in which order
 * of rows, and where their configuration comes from. Everything is handed out as a folder of Hugging Face has it. */
#ifndef MW__TEXT_PRETRAINED_PRETRAINED_H
#define MW__TEXT_PRETRAINED_PRETRAINED_H

#include "base/file/file.h"
#include "base/text/error.h"
#include "text/net/net.h"

/* ---- weights ---- */

/* What a tensor is for, in the order in which a network uses them; a row of parts.c each. */
typedef enum mw__pretrained_part {
    MW__PART_WORDS,
    MW__PART_PLACES,
    MW__PART_TYPES,
    MW__PART_WORDS_NORM,
    MW__PART_BEFORE_ATTENTION,
    MW__PART_JOINED,
    MW__PART_QUERY,
    MW__PART_KEY,
    MW__PART_VALUE,
    MW__PART_QUERY_NORM,
    MW__PART_KEY_NORM,
    MW__PART_MIXED,
    MW__PART_AFTER_ATTENTION,
    MW__PART_BEFORE_MLP,
    MW__PART_GATE,
    MW__PART_UP,
    MW__PART_DOWN,
    MW__PART_AFTER_MLP,
    MW__PART_LAST_NORM,
    MW__PART_POOLER,
    MW__PART_HEAD_PRODUCT,
    MW__PART_HEAD_NORM,
    MW__PART_HEAD_BIAS,
    MW__PART_HEAD,
    MW__PARTS
} mw__pretrained_part;

typedef struct mw__pretrained_weight {
    const char *name; /* as the family's own files have it */
    const char *gguf; /* in GGUF; NULL: it has no place there */
    mw__pretrained_part part;
    int layer; /* -1: of the network */
    bool bias;
    bool product;         /* a matrix that rows of tokens are multiplied with, or a table: what is quantized */
    bool inputs_first;    /* [inputs, outputs]; other formats have [outputs, inputs] */
    int64_t paired_heads; /* rotary channels k and k + half of so many heads stand beside each other in formats that
                           * follow Llama's first files; 0 = as they are */
    mw_shape shape;
} mw__pretrained_weight;

/* The list of a configuration, in the arena. */
mw_status mw__pretrained_list(const mw_text_config *config, mw__arena *arena, mw__pretrained_weight **out,
                              size_t *out_count, mw_error *err);
const mw__pretrained_weight *mw__pretrained_find(const mw__pretrained_weight *list, size_t count, const char *name);

/* Between a folder's order and that of files with [outputs, inputs] and, if `pairs`, neighboring channels; `back`: to
 * the folder's. */
mw_status mw__pretrained_turn(const mw__pretrained_weight *weight, bool pairs, bool back, float *data, mw_error *err);

/* ---- files ---- */

typedef struct mw__pretrained mw__pretrained;

/* How a kind of files is read. */
typedef struct mw__pretrained_form {
    const char *name;
    /* Fills in config, weights and what `read` needs; the file has all of the weights, in their shapes. */
    mw_status (*open)(mw__pretrained *p, mw_error *err);
    /* The elements of a weight, as a folder has them. */
    mw_status (*read)(mw__pretrained *p, size_t weight, float *out, mw_error *err);
} mw__pretrained_form;

struct mw__pretrained {
    mw__arena arena;
    const char *path;
    const mw__pretrained_form *form;
    mw_text_config config;
    mw__pretrained_weight *weights;
    size_t count;
    mw_tensors *tensors;                /* folder, GGUF */
    mw__file file;                      /* .bin; descriptor -1 = none */
    const struct mw__raw_place *places; /* [count], .bin */
};

extern const mw__pretrained_form mw__pretrained_folder, mw__pretrained_gguf, mw__pretrained_llama2c,
    mw__pretrained_llmc;

/* A folder, a .gguf, or a .bin of llama2.c or llm.c: by what it begins with. Deinit in any case. */
mw_status mw__pretrained_open(mw__pretrained *p, const char *path, mw_error *err);
void mw__pretrained_deinit(mw__pretrained *p);
mw_status mw__pretrained_read(mw__pretrained *p, size_t weight, float *out, mw_error *err);
/* Whether a graph may do without a weight, and this program does: pooler and head of an encoder. */
bool mw__pretrained_is_left_out(const mw__pretrained *p, size_t weight, const mw_program *program);
/* All of them into the parameters of a program. */
mw_status mw__pretrained_load(mw__pretrained *p, mw_program *program, mw_error *err);
/* The tokenizer that belongs to it: of the folder, of the file itself, or beside it. NULL with err set. */
mw_tokenizer *mw__pretrained_tokenizer(const char *path, mw_error *err);
/* A name that a folder has for a weight: files of GPT-2 and BERT have the name of the whole in front, or not, and old
 * ones of BERT call the parts of a norm gamma and beta. NULL = none. */
const mw_tensor_info *mw__pretrained_stored(const mw_tensors *tensors, const char *name);
/* The weight that a tensor of files is, whichever of these names it has; NULL = none. */
const mw__pretrained_weight *mw__pretrained_named(const mw__pretrained *p, const char *stored);
/* Which ends the weights of an encoder have: they are not in every folder of one configuration. */
void mw__pretrained_take_ends(const mw_tensors *tensors, mw_text_config *config);

/* What sentence-transformers has beside the weights, or GGUF in its keys. */
typedef struct mw__pretrained_sentence {
    mw_pooling pooling; /* MW_POOLING_MEAN or MW_POOLING_CLS */
    bool unit;          /* vectors of length 1 */
    int64_t most;       /* tokens of a text; 0 = it does not say */
} mw__pretrained_sentence;

/* Of a folder or a .gguf. MW_ERROR_UNSUPPORTED, by name, for modules and kinds of pooling that are not built. */
mw_status mw__pretrained_read_sentence(const mw__pretrained *files, mw__pretrained_sentence *out, mw_error *err);

/* config.json of a configuration; dtype: of the weights. */
struct mw__text;
void mw__pretrained_put_config(const mw_text_config *config, mw_dtype dtype, struct mw__text *out);

/* ---- GGUF ---- */

/* What differs between a family and its architecture in GGUF. */
typedef struct mw__pretrained_architecture {
    const char *family, *name;
    bool pairs;    /* rows of query and key stand in pairs */
    bool from_one; /* norms are stored with the 1 that the family adds */
} mw__pretrained_architecture;
const mw__pretrained_architecture *mw__pretrained_architecture_of(const char *family);

mw_status mw__pretrained_gguf_config(mw_tensors *tensors, mw_text_config *out, mw_error *err);
/* What readers of GGUF divide scores by. */
void mw__pretrained_gguf_scale(mw_text_config *config);
/* Llama 3's factors of frequencies, [head_width / 2], as GGUF stores them; and what they say of a configuration. */
void mw__pretrained_rope_factors(const mw_text_config *config, float *out);
mw_status mw__pretrained_take_rope_factors(const float *factors, mw_text_config *config, mw_error *err);

#endif
