/* tokenizer.json. */
#include "base/text/error.h"
#include "text/read/read.h"

#include <string.h>

static bool names(const mw__json_node *node, const char *list, const char *type)
{
    const char *own = mw__tree_text(node, "type");
    if (own != NULL && strcmp(own, type) == 0)
        return true;
    const mw__json_node *parts = mw__tree_find(node, list);
    for (const mw__json_node *part = parts != NULL ? parts->first : NULL; part != NULL; part = part->next)
        if (names(part, list, type))
            return true;
    return false;
}

static mw_status read_added(mw_tokenizer *t, const mw__json_node *node, mw_error *err)
{
    const mw__json_node *content = mw__tree_find(node, "content");
    const double id = mw__tree_number(node, "id", -1.0);
    if (!mw__tree_is(content, MW__JSON_IS_TEXT) || !(id >= 0.0 && id < (double)MW__VOCABULARY_MOST))
        return mw__fail(err, MW_ERROR_FORMAT, "an added token has no text, or no number from 0 to %d",
                        MW__VOCABULARY_MOST - 1);
    if (content->length == 0)
        return MW_OK;
    return mw__tokenizer_add_token(t,
                                   (mw__added){.text = content->text,
                                               .size = content->length,
                                               .id = (int32_t)id,
                                               .special = mw__tree_bool(node, "special", false),
                                               .single_word = mw__tree_bool(node, "single_word", false),
                                               .strips_left = mw__tree_bool(node, "lstrip", false),
                                               .strips_right = mw__tree_bool(node, "rstrip", false),
                                               .normalized = mw__tree_bool(node, "normalized", true)},
                                   err);
}

static mw_status read_all_added(mw_tokenizer *t, const mw__json_node *root, mw_error *err)
{
    const mw__json_node *added = mw__tree_find(root, "added_tokens");
    for (const mw__json_node *node = added != NULL ? added->first : NULL; node != NULL; node = node->next)
        MW_TRY(read_added(t, node, err));
    return MW_OK;
}

static mw_status read_root(mw_tokenizer *t, const mw__json_node *root, mw_error *err)
{
    const mw__json_node *normalizer = mw__tree_find(root, "normalizer");
    const mw__json_node *cuts = mw__tree_find(root, "pre_tokenizer");
    t->model.byte_level = names(cuts, "pretokenizers", "ByteLevel") || names(normalizer, "normalizers", "ByteLevel");
    MW_TRY(mw__read_model(t, mw__tree_find(root, "model"), err));
    MW_TRY(mw__read_normalizer(t, normalizer, err));
    MW_TRY(mw__read_pre_tokenizer(t, cuts, err));
    MW_TRY(mw__read_post_processor(t, mw__tree_find(root, "post_processor"), err));
    MW_TRY(mw__read_decoder(t, mw__tree_find(root, "decoder"), err));
    return read_all_added(t, root, err);
}

mw_tokenizer *mw__read_tokenizer_json(const char *text, size_t size, mw_error *err)
{
    mw__arena tree;
    mw_tokenizer *t = mw__tokenizer_make(err);
    if (t == NULL)
        return NULL;
    mw__arena_init(&tree, t->arena.allocator);
    const mw__json_node *root = mw__tree_read(&tree, text, size, err);
    if (root != NULL)
        read_root(t, root, err);
    t = mw__tokenizer_finish(t, err);
    mw__arena_deinit(&tree);
    return t;
}
