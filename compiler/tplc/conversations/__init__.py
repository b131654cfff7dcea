"""Rendered conversations: who wrote each character, masks for training, and append-only templates."""

from tplc.conversations.masks import token_mask
from tplc.conversations.template import ConversationTemplate, RenderedConversation, Span, conversation_spans

__all__ = ["ConversationTemplate", "RenderedConversation", "Span", "conversation_spans", "token_mask"]
