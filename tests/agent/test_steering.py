from __future__ import annotations

from codeagent.agent.steering import Queue
from codeagent.core.events import Delivery


def test_messages_leave_by_kind_in_the_order_they_were_typed():
    queue = Queue()
    for text, kind in (("a", Delivery.FOLLOW_UP), ("b", Delivery.STEER), ("c", Delivery.STEER)):
        queue.add(text, kind)
    taken = [queue.take(Delivery.STEER), queue.take(Delivery.STEER), queue.take(Delivery.STEER)]
    assert [message.text if message else None for message in taken] == ["b", "c", None]
    assert queue.take(Delivery.FOLLOW_UP).text == "a"
    assert queue.is_empty


def test_only_steering_wants_to_be_heard_at_once():
    queue = Queue()
    queue.add("later", Delivery.FOLLOW_UP)
    assert not queue.has_steering
    queue.add("now", Delivery.STEER)
    assert queue.has_steering


def test_a_message_leaves_once():
    queue = Queue()
    message = queue.add("a", Delivery.STEER)
    assert queue.take_back(message.message_id) == "a"
    assert queue.take_back(message.message_id) is None
    assert queue.take_all() == ()


def test_a_message_that_could_not_be_delivered_is_first_again():
    queue = Queue()
    queue.add("a", Delivery.STEER)
    queue.add("b", Delivery.STEER)
    first = queue.take(Delivery.STEER)
    queue.put_back(first)
    assert [message.text for message in queue.take_all()] == ["a", "b"]
