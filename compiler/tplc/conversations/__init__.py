"""Rendered conversations: whose each character is, masks for training, and templates that only append."""

from tplc.conversations.masks import token_mask
from tplc.conversations.template import ConversationTemplate, RenderedConversation, Span, conversation_spans

__all__ = ["ConversationTemplate", "RenderedConversation", "Span", "conversation_spans", "token_mask"]
