/* The programs of an embedder: an encoder for so many tokens of so many texts. */
#include "text/embed/programs.h"
#include "base/text/error.h"
#include "text/embed/embed.h"

enum { FEWEST_TOKENS = 16, TOKENS_OF_A_RUN = 1024 };

static int64_t tokens_of(const mw__embedder *e, int length)
{
    const int64_t tokens = (int64_t)FEWEST_TOKENS << length;
    return tokens < e->most ? tokens : e->most;
}

mw__embedder_group mw__embedder_group_for(const mw__embedder *e, int64_t longest, size_t left)
{
    int length = 0, batch = 0;
    while (tokens_of(e, length) < longest)
        length++;
    while ((size_t)1 << batch < left && batch + 1 < MW__EMBEDDER_BATCHES &&
           tokens_of(e, length) << (batch + 1) <= TOKENS_OF_A_RUN)
        batch++;
    return (mw__embedder_group){
        .length = length, .batch = batch, .tokens = tokens_of(e, length), .texts = (size_t)1 << batch};
}

/* Of hidden states alone. */
static mw_program *compile_encoder(const mw__embedder *e, const mw__embedder_group *b, mw_error *err)
{
    mw_compile_options options = e->compile;
    mw_text_graph_options graph_options = mw_text_graph_defaults();
    mw_text_config config = *e->config;
    config.pooler = config.word_head = false;
    graph_options.batch = (int64_t)b->texts;
    graph_options.tokens = b->tokens;
    graph_options.weights = e->weights;
    graph_options.tuning = e->tuning;
    if (e->programs[0][0] != NULL)
        options.share = (mw_share){.program = e->programs[0][0]};
    mw_graph *graph = mw_text_graph(&config, &graph_options, err);
    mw_program *program = graph != NULL ? mw_program_create(graph, &options, err) : NULL;
    mw_graph_destroy(graph);
    return program;
}

mw_program *mw__embedder_program(mw__embedder *e, const mw__embedder_group *b, mw_error *err)
{
    mw_program **at = &e->programs[b->length][b->batch];
    if (*at == NULL)
        *at = compile_encoder(e, b, err);
    return *at;
}

/* ---- opening ---- */

/* The most tokens of a text: as asked for, as the folder says, or as there are positions. */
static mw_status take_most(mw__embedder *e, int64_t asked, mw_error *err)
{
    const int64_t places = e->config->positions, most = (int64_t)FEWEST_TOKENS << (MW__EMBEDDER_LENGTHS - 1);
    e->most = asked > 0 ? asked : e->form.most > 0 ? e->form.most : places;
    if (asked > places || asked > most)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "a model of text: texts of %lld tokens; %s has %lld positions, and "
                        "%lld are the most",
                        (long long)asked, e->config->family, (long long)places, (long long)most);
    e->most = e->most > places ? places : e->most;
    e->most = e->most > most ? most : e->most;
    return MW_OK;
}

mw_status mw__embedder_open(mw__embedder *e, mw__pretrained *files, const mw__embedder_options *o, mw_error *err)
{
    *e = (mw__embedder){.config = o->config, .tokenizer = o->tokenizer, .weights = o->model->weights};
    e->compile = o->model->compile != NULL ? *o->model->compile : mw_compile_defaults();
    e->tuning = o->model->tuning;
    MW_TRY(mw__pretrained_read_sentence(files, &e->form, err));
    MW_TRY(take_most(e, o->model->cache, err));
    const mw__embedder_group first = mw__embedder_group_for(e, 1, 1);
    mw_program *program = mw__embedder_program(e, &first, err);
    if (program == NULL)
        return err->status;
    return e->compile.share.trainer == NULL ? mw__pretrained_load(files, program, err) : MW_OK;
}

/* The first one lends its weights to the others. */
void mw__embedder_deinit(mw__embedder *e)
{
    for (int length = MW__EMBEDDER_LENGTHS; length-- > 0;)
        for (int batch = MW__EMBEDDER_BATCHES; batch-- > 0;)
            mw_program_destroy(e->programs[length][batch]);
}
