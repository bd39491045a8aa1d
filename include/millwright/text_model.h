/* Language models by their configuration: the graph that trains, evaluates or writes, and texts that a model writes.
 *
 *     mw_text_model *model = mw_text_model_open("SmolLM2-135M", NULL, &err);   // config.json, weights, tokenizer
 *     mw_generate_options options = mw_generate_defaults();
 *     options.token = print_token;                                             // each as it comes
 *     mw_string_free(mw_text_model_generate(model, "Once upon a time", &options, &err));
 *     mw_text_model_destroy(model);
 *
 * Families: gpt2, llama (with the scaled positions of Llama 3), mistral, qwen2, qwen3, gemma2, and the encoder bert,
 * which writes nothing: mw_text_model_embed. Parameters have the names that the files of the family have, so that
 * mw_program_load_weights and mw_trainer_save_weights read and write those.
 *
 * In libmillwright_text (<millwright/text.h>).
 *
 * Threads: calls on one model come one at a time, from any thread. */
#ifndef MILLWRIGHT_TEXT_MODEL_H
#define MILLWRIGHT_TEXT_MODEL_H

#include <millwright/millwright.h>
#include <millwright/tokenizer.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- configurations ---- */

/** What a network is made of; numbers as config.json has them. Fill with mw_text_config_defaults or
 *  mw_text_config_read. */
typedef struct mw_text_config {
    size_t struct_size;
    const char *family; /* "gpt2", "llama", "mistral", "qwen2", "qwen3", "gemma2" or "bert"; static storage */
    int64_t layers;     /* num_hidden_layers */
    int64_t width;      /* hidden_size */
    int64_t heads;      /* num_attention_heads */
    int64_t kv_heads;   /* num_key_value_heads; heads of a family without groups */
    int64_t head_width; /* head_dim; width / heads unless the file says otherwise */
    int64_t hidden;     /* intermediate_size */
    int64_t words;      /* vocab_size */
    int64_t positions;  /* max_position_embeddings: the most tokens of a text */
    float norm_epsilon; /* rms_norm_eps, layer_norm_epsilon, layer_norm_eps */
    double rope_theta;  /* base of rotary positions */
    double rope_factor; /* rope_scaling of type llama3: factor; 1 = none */
    double rope_low, rope_high, rope_original; /* low_freq_factor, high_freq_factor, the positions trained before */
    bool tied;                                 /* the head is the table of words */
    double score_softcap;                      /* attn_logit_softcapping: s tanh(x / s) of scores; 0 = none */
    double logit_softcap;                      /* final_logit_softcapping; 0 = none */
    double query_scale; /* query_pre_attn_scalar: scores are divided by its root; 0 = head_width */
    int64_t window; /* sliding_window: how far back a token looks in every layer, of gemma2 in every second; 0 = all */
    int64_t types;  /* of an encoder type_vocab_size: kinds of tokens */
    bool pooler;    /* of an encoder: tanh of a product of the first token, the output "pooled" */
    bool word_head; /* of an encoder: a head of masked words (cls.predictions), the output "logits" */
} mw_text_config;

/** Values of a family for what files leave out; everything else is 0. An unknown family has a NULL `family`. */
MW_API mw_text_config mw_text_config_defaults(const char *family);
/** Reads config.json, or that of a folder, or what a .gguf or .bin says.
 *  errors  MW_ERROR_FILE; MW_ERROR_FORMAT for what is malformed, missing or out of range; MW_ERROR_UNSUPPORTED, by
 *          name, for another family, kind of scaled positions, or activation */
MW_API mw_status mw_text_config_read(const char *path, mw_text_config *out, mw_error *err);

/* ---- graphs ---- */

/** Which weights are trained, and how. {0} = all of them, themselves. */
typedef struct mw_text_tuning {
    int rank;    /* not 0: adapters of this rank beside them (mw_graph_lora), and the weights are frozen */
    float alpha; /* of adapters; 0 = 8 */
    const char *const *weights; /* [weight_count] names as fnmatch(3); NULL = of adapters those that PEFT chooses, the
                                 * weights of query and value ("*.q_proj.weight", "*.v_proj.weight"; of gpt2
                                 * "*.c_attn.weight"); else all */
    size_t weight_count;
} mw_text_tuning;

/** Which graph. Fill with mw_text_graph_defaults. */
typedef struct mw_text_graph_options {
    size_t struct_size;
    int64_t batch;  /* texts; default 1 */
    int64_t tokens; /* of each; of a cached graph those of one run; default 128 */
    int64_t cache; /* not 0: keys and values of so many tokens are states, and a run goes on where the last one ended */
    bool loss;     /* the loss of input "labels" instead of logits; not with a cache, of an encoder with a head only */
    bool apart;    /* of several documents in a window each is seen by itself alone: a token looks back to the begin of
                    * its own, and positions count from there. Input "starts" says where that is; not with a cache, nor
                    * of an encoder */
    mw_dtype weights; /* of matrices: MW_F32 (default), or, without a loss, MW_F16, which products widen as they read
                       * them */
    mw_text_tuning tuning; /* weights that are not trained are states */
} mw_text_graph_options;
MW_API mw_text_graph_options mw_text_graph_defaults(void);

/** A network with new parameters (normal, 0.02), under the names of its family's files.
 *  inputs   "tokens" I32 [batch, tokens]; with loss "labels" I32 [batch, tokens], of which -100 does not count: the
 *           caller shifts them; with apart "starts" I32 [batch, tokens], the place in the window, 0 to the token's own,
 *           where its document begins; with a cache "at" I32 [1], how many tokens came before, and "last" I32 [1], the
 *           token of this run that logits are wanted for. Of an encoder also "types" I32 [batch, tokens], the kind of
 *           each token, and "mask" I32 [batch, tokens], 1 for tokens of the text and 0 behind it; each text has a token
 *  outputs  "logits" [batch, tokens, words], with a cache [batch, words]; with loss "loss", a scalar. With a cache
 *           states "key.0", "value.0" .. [batch, kv_heads, cache, head_width], and their next values "key.0.next" ..,
 *           to be aliased onto them (mw_program_alias). Of an encoder "hidden" [batch, tokens, width], with a pooler
 *           "pooled" [batch, width], and "logits" with a head of masked words alone
 *  return   owned by the caller; NULL with err set on failure */
MW_API mw_graph *mw_text_graph(const mw_text_config *config, const mw_text_graph_options *options, mw_error *err);

/* ---- models ---- */

typedef struct mw_text_model mw_text_model;

/** How to open. Fill with mw_text_model_defaults. */
typedef struct mw_text_model_options {
    size_t struct_size;
    const mw_compile_options *compile; /* NULL = mw_compile_defaults(); what it points to outlives the model */
    int64_t cache;                     /* the most tokens of a text, written ones included; 0 = 1024, or the network's
                                        * positions if those are fewer; of an encoder what sentence_bert_config.json
                                        * says, or its positions */
    mw_dtype weights;                  /* of matrices in memory: MW_F32 (default), or MW_F16 in half of it */
    mw_text_tuning tuning;             /* that of the trainer in compile->share.trainer: the model then has its
                                        * weights, as they are at each text, and reads none of the folder */
} mw_text_model_options;
MW_API mw_text_model_options mw_text_model_defaults(void);

/** Opens a folder with config.json, weights (model.safetensors or shards with their index) and a tokenizer; a .gguf;
 *  or a .bin of llama2.c or llm.c that stands beside its tokenizer.
 *  return  owned by the caller; NULL with err set on failure */
MW_API mw_text_model *mw_text_model_open(const char *folder, const mw_text_model_options *options, mw_error *err);
/** Frees it; twice as mw_trainer_destroy. NULL is fine. */
MW_API void mw_text_model_destroy(mw_text_model *model);
/** Its configuration and its tokenizer; they live as long as the model. NULL for NULL. */
MW_API const mw_text_config *mw_text_model_get_config(const mw_text_model *model);
MW_API const mw_tokenizer *mw_text_model_get_tokenizer(const mw_text_model *model);

/** How to write. Fill with mw_generate_defaults. */
typedef struct mw_generate_options {
    size_t struct_size;
    int64_t tokens;    /* the most that are written; default 256 */
    float temperature; /* 0 = always the likeliest token; default 0.8 */
    int top_k;         /* among the k likeliest; 0 = all; default 40 */
    float top_p;       /* among the likeliest of those that together have this probability; 1 = all; default 0.95 */
    float min_p;       /* among those with at least this part of the largest probability; 0 = all */
    float repetition;  /* logits of tokens that came already are divided by it, or multiplied if negative; 1 = not */
    uint64_t seed;     /* the same text for the same seed */
    const char *const *stops; /* the text ends before one of these; NULL = none */
    size_t stop_count;
    bool (*token)(void *user, const char *text); /* what a token adds, never half a character; false ends the text */
    void *user;
} mw_generate_options;
MW_API mw_generate_options mw_generate_defaults(void);

/** Goes on with a text until a token ends it, or as the options say.
 *  prompt   NUL-terminated
 *  options  NULL = mw_generate_defaults()
 *  return   what was written, without the prompt, freed with mw_string_free; NULL with err set on failure
 *  errors   MW_ERROR_ARGUMENT if the prompt fills the cache, a number of the options is out of range, or a token is
 *           beyond the table of words */
MW_API char *mw_text_model_generate(mw_text_model *model, const char *prompt, const mw_generate_options *options,
                                    mw_error *err);
/** Goes on with several texts at a time, each as mw_text_model_generate goes on with it alone: the weights are read
 *  once for all of them. Products of several rows add in another order: logits differ by rounding, and texts
 *  may differ where two tokens are almost equally likely.
 *  prompts    [count], 1 to 4096
 *  options    as above, for each text; `token` must be NULL for more than one
 *  out_texts  [count], each freed with mw_string_free; all NULL on failure */
MW_API mw_status mw_text_model_generate_each(mw_text_model *model, const char *const *prompts, size_t count,
                                             const mw_generate_options *options, char **out_texts, mw_error *err);

/* ---- embeddings ---- */

/** What becomes of the tokens' hidden states. */
typedef enum mw_pooling {
    MW_POOLING_OF_FOLDER, /* as modules.json names it (1_Pooling/config.json), or GGUF; the mean where nothing does */
    MW_POOLING_MEAN,      /* of all tokens of a text, special ones too */
    MW_POOLING_CLS        /* that of the first one */
} mw_pooling;

/** How to embed. Fill with mw_embed_defaults. */
typedef struct mw_embed_options {
    size_t struct_size;
    mw_pooling pooling; /* default MW_POOLING_OF_FOLDER */
    bool unit;          /* vectors of length 1, also where modules.json has no Normalize; default false */
} mw_embed_options;
MW_API mw_embed_options mw_embed_defaults(void);

/** A vector for each text, by an encoder: of vectors of length 1 the sum of products says how near two texts are, in
 *  [-1, 1]. Texts of about one length pass together; the same text gives the same vector up to rounding.
 *  texts    [count], NUL-terminated. Beyond the most tokens (`cache`) a text is cut, as sentence-transformers does
 *  options  NULL = mw_embed_defaults()
 *  out      [count, width]; not defined on failure
 *  errors   MW_ERROR_UNSUPPORTED if the model is no encoder; MW_ERROR_ARGUMENT for a text without tokens, or with one
 *           beyond the table of words */
MW_API mw_status mw_text_model_embed(mw_text_model *model, const char *const *texts, size_t count,
                                     const mw_embed_options *options, float *out, mw_error *err);

#ifdef __cplusplus
}
#endif
#endif
